// The step, the position and the edits in the page's address: `#step=3&position=2` is a link to them.

export function linked(document) {
  const found = new URLSearchParams(location.hash.slice(1));
  const number = (name) => (/^\d+$/.test(found.get(name) ?? "") ? Number(found.get(name)) : null);
  const step = number("step");
  const position = number("position");
  return {
    step: step === null ? null : step - document.first,
    position: position === null ? null : position - document.firstPosition,
  };
}

export function linkedEdits() {
  return new URLSearchParams(location.hash.slice(1)).getAll("edit");
}

// Put other edits into the address; step and position stay.
export function linkEdits(edits) {
  const found = new URLSearchParams(location.hash.slice(1));
  const parts = ["step", "position"].filter((name) => found.has(name)).map((name) => `${name}=${found.get(name)}`);
  for (const edit of edits) parts.push(`edit=${encodeURIComponent(edit)}`);
  history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : location.pathname);
}

export function keepLinked(stage, document) {
  let timer = 0;
  const write = () => {
    const parts = [`step=${stage.now.step + document.first}`];
    if (document.positions.length) parts.push(`position=${stage.now.position + document.firstPosition}`);
    for (const edit of linkedEdits()) parts.push(`edit=${encodeURIComponent(edit)}`);
    try {
      history.replaceState(null, "", `#${parts.join("&")}`);
    } catch {
      // A page inside a notebook has no address of its own.
    }
  };
  stage.onChange((changed) => {
    if (!changed.has("step") && !changed.has("position")) return;
    clearTimeout(timer); // browsers allow few changes of the address in a second
    timer = setTimeout(write, 150);
  });
}

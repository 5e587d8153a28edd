// The step and the position in the page's address: `#step=3&position=2` is a link to them.

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

export function keepLinked(stage, document) {
  let timer = 0;
  const write = () => {
    const parts = [`step=${stage.now.step + document.first}`];
    if (document.positions.length) parts.push(`position=${stage.now.position + document.firstPosition}`);
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

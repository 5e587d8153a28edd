// What a person set up in the page is kept while it loads a new document: theme, filters, and where they were typing.

const PLACE = "kleene-live";

export function keep(typed) {
  const filters = [...document.querySelectorAll("#filters input")].map((field) => [field.id, field.value]);
  const kept = {
    theme: document.documentElement.dataset.theme ?? "",
    filters: filters.filter(([, value]) => value),
    typed,
    focused: document.activeElement?.id === "live-input",
    scroll: scrollY,
  };
  try {
    sessionStorage.setItem(PLACE, JSON.stringify(kept));
  } catch {
    // A browser that stores nothing forgets the filters.
  }
}

export function kept() {
  try {
    const found = JSON.parse(sessionStorage.getItem(PLACE) ?? "null");
    sessionStorage.removeItem(PLACE);
    return found;
  } catch {
    return null;
  }
}

// The theme at once; the filters once the page has them.
export function restore(found) {
  if (!found) return;
  if (found.theme) document.documentElement.dataset.theme = found.theme;
  const watcher = new MutationObserver(() => {
    if (document.documentElement.dataset.ready !== "true") return;
    watcher.disconnect();
    for (const [id, value] of found.filters) {
      const field = document.getElementById(id);
      if (!field) continue;
      field.value = value;
      field.dispatchEvent(new Event("input"));
    }
    if (found.filters.length) document.querySelector("[aria-controls=filters]")?.click();
    scrollTo(0, found.scroll);
    if (found.focused) document.getElementById("live-input").focus();
  });
  watcher.observe(document.documentElement, { attributes: true, attributeFilter: ["data-ready"] });
}

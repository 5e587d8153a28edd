// What a person set up in the page is kept while it loads a new document: theme, filters, and where they were typing.

const PLACE = "kleene-live";
const FOCUSED = ["live-input", "edit-channel", "edit-step", "edit-position", "edit-value", "edit-set"];

export function keep(typed) {
  const filters = [...document.querySelectorAll("#filters input")].map((field) => [field.id, field.value]);
  const kept = {
    theme: document.documentElement.dataset.theme ?? "",
    filters: filters.filter(([, value]) => value),
    typed,
    focused: FOCUSED.includes(document.activeElement?.id) ? document.activeElement.id : "",
    picked: document.getElementById("edit-channel")?.value ?? "",
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
    const channel = document.getElementById("edit-channel");
    if (found.picked && channel && [...channel.options].some((option) => option.value === found.picked)) {
      channel.value = found.picked;
      channel.dispatchEvent(new Event("change"));
    }
    if (found.focused) document.getElementById(found.focused)?.focus();
  });
  watcher.observe(document.documentElement, { attributes: true, attributeFilter: ["data-ready"] });
}

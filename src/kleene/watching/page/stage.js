// What the page shows now: the step, the chosen position, and the filters. Whoever draws asks to be told of changes.

export function createStage(start) {
  const now = { ...start };
  const listeners = [];
  return {
    now,
    onChange: (listener) => listeners.push(listener),
    set(changes) {
      const changed = new Set();
      for (const [name, value] of Object.entries(changes)) {
        if (now[name] === value) continue;
        now[name] = value;
        changed.add(name);
      }
      if (changed.size) for (const listener of listeners) listener(changed);
    },
  };
}

export function between(value, least, most) {
  return Math.min(most, Math.max(least, value));
}

// The events of the server, and whether it can still be heard.

export function follow(onEntry, onLost) {
  const source = new EventSource("events");
  let over = false;
  source.onmessage = (event) => {
    onLost(false);
    if (onEntry(JSON.parse(event.data)) === "over") {
      over = true;
      source.close();
    }
  };
  source.onerror = () => {
    if (!over) onLost(true);
  };
  addEventListener("pagehide", () => source.close());
  return source;
}

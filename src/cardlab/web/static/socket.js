// The connection to a table: joins, reconnects after a break, and says why it ended.

const FIRST_WAIT = 400;
const LONGEST_WAIT = 8000;
const TOO_MANY = 4408;
/** @type {Record<number, string>} */
const FINAL = {
  4401: "This link does not match any seat of this table. Ask for a new link, or watch without a seat.",
  4404: "Table not found. Check the link, or open a new table in the lobby.",
  4409: "You have opened this seat in another tab.",
};

/**
 * Open a connection; `report` gets {data} for every message and {state, words, code} for changes
 * of the connection.
 * @param {string} id
 * @param {() => Wire.Hello} hello
 * @param {(news: Page.LineNews) => void} report
 * @returns {Page.Line}
 */
export function openLine(id, hello, report) {
  let closed = false;
  let pause = FIRST_WAIT;
  /** @type {number | undefined} */
  let timer;

  const connect = () => {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const made = new WebSocket(
      `${scheme}://${location.host}/api/tables/${encodeURIComponent(id)}/socket`,
    );
    made.addEventListener("open", () => {
      pause = FIRST_WAIT;
      made.send(JSON.stringify({ type: "join", ...hello() }));
      report({ state: "open" });
    });
    made.addEventListener("message", (event) => report({ data: JSON.parse(event.data) }));
    made.addEventListener("close", (event) => {
      if (closed) return;
      if (FINAL[event.code]) {
        report({ state: "final", words: FINAL[event.code], code: event.code });
        return;
      }
      if (event.code === TOO_MANY) pause = LONGEST_WAIT / 2;
      const words =
        event.code === TOO_MANY
          ? "Too many messages; reconnecting in a few seconds."
          : "Connection lost; reconnecting.";
      report({ state: "lost", words });
      timer = setTimeout(again, pause);
      pause = Math.min(LONGEST_WAIT, pause * 1.7);
    });
    return made;
  };
  let socket = connect();
  const again = () => {
    clearTimeout(timer);
    socket = connect();
  };
  window.addEventListener("online", () => {
    if (socket.readyState === WebSocket.CLOSED && !closed) again();
  });
  return {
    /** Send a message; returns whether the connection was open. */
    send(message) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(message));
      return true;
    },
    again,
    close() {
      closed = true;
      socket.close();
    },
  };
}

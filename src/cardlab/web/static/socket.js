// The line to a table: joins, comes back after a break, and says why it ended.

const FIRST_WAIT = 400;
const LONGEST_WAIT = 8000;
const TOO_MANY = 4408;
/** @type {Record<number, string>} */
const FINAL = {
  4401: "This link opens no seat at this table.",
  4404: "There is no such table; it may have been closed long ago.",
  4409: "You have opened this table in another tab.",
};

/**
 * Open a line; `tell` gets {data} for every message and {state, words, code} for its fate.
 * @param {string} id
 * @param {() => Wire.Hello} hello
 * @param {(news: Page.LineNews) => void} tell
 * @returns {Page.Line}
 */
export function openLine(id, hello, tell) {
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
      tell({ state: "open" });
    });
    made.addEventListener("message", (event) => tell({ data: JSON.parse(event.data) }));
    made.addEventListener("close", (event) => {
      if (closed) return;
      if (FINAL[event.code]) {
        tell({ state: "final", words: FINAL[event.code], code: event.code });
        return;
      }
      if (event.code === TOO_MANY) pause = LONGEST_WAIT / 2;
      const words =
        event.code === TOO_MANY
          ? "Too many messages; a short rest."
          : "The line to the table is broken; trying again.";
      tell({ state: "lost", words });
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
    /** Send a message; returns whether the line was open. */
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

// Help: the rules of a game in short, and the keyboard shortcuts.

import { ask, h } from "./dom.js";

const KEYS = [
  ["← →", "select a card of your hand"],
  ["Enter", "play the selected card"],
  ["H", "ask the adviser for a hint"],
  ["L", "show or hide the log"],
  ["?", "show this help"],
];
/**
 * Show the help of a table's game.
 * @param {Wire.Table} facts
 */
export function showHelp(facts) {
  const keys = [...KEYS, ...facts.page.keys];
  const rows = keys.map(([name, what]) =>
    h("div", {}, h("dt", {}, h("kbd", {}, name)), h("dd", {}, what)),
  );
  return ask(
    `How to play ${facts.title}`,
    [
      h("p", {}, facts.page.rules || `${facts.summary[0].toUpperCase()}${facts.summary.slice(1)}.`),
      h("dl", { class: "keys" }, rows),
    ],
    [{ text: "Close", value: true, class: "primary", first: true }],
  );
}

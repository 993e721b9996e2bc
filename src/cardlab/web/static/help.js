// Help: the rules of a game in a few words, and the keys.

import { ask, h } from "./dom.js";

/** @type {Record<string, string>} */
const RULES = {
  crazy_eights:
    "Get rid of your cards: each must match the pile’s suit or rank. Eights fit always and call a suit. Who cannot play draws.",
  uno: "Get rid of your cards: each must match the pile’s colour or sign. Wilds call a colour. Who has nothing that fits draws a card.",
  birds_of_a_feather:
    "Gather all sixteen cards into one stack. A stack moves onto another of its row or column if the top cards have the same suit or ranks that are equal or neighbours.",
  koi_koi:
    "Play a card, then one is drawn; each takes a field card of its month. Captured cards form yaku. With a yaku you may stop and score, or call koi-koi and try for more.",
  cribbage:
    "Lay two cards away for the crib, play cards up to 31, then hands and crib are counted: fifteens, pairs, runs, flushes. First to the last hole wins.",
};

const KEYS = [
  ["← →", "walk through your cards"],
  ["Enter", "play the card"],
  ["H", "ask the adviser"],
  ["L", "show or hide the log"],
  ["?", "this help"],
];
/** @type {Record<string, string[][]>} */
const MORE_KEYS = {
  birds_of_a_feather: [
    ["← → ↑ ↓", "walk through the grid"],
    ["U", "one move back"],
    ["S", "is it still solvable?"],
    ["Esc", "put the stack down"],
  ],
};

/**
 * Show the help of a table's game.
 * @param {Wire.Table} facts
 */
export function showHelp(facts) {
  const keys = [...KEYS, ...(MORE_KEYS[facts.game] ?? [])];
  const rows = keys.map(([name, what]) =>
    h("div", {}, h("dt", {}, h("kbd", {}, name)), h("dd", {}, what)),
  );
  return ask(
    `How to play ${facts.title}`,
    [
      h("p", {}, RULES[facts.game] ?? `${facts.summary[0].toUpperCase()}${facts.summary.slice(1)}.`),
      h("dl", { class: "keys" }, rows),
    ],
    [{ text: "Close", value: true, class: "primary", first: true }],
  );
}

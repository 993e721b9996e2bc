// Cards as pictures, names and an order for the hand; the three decks are told apart by their texts.

import { h, s } from "./dom.js";

/** @type {Record<string, string>} */
const RANKS = {
  A: "ace",
  2: "two",
  3: "three",
  4: "four",
  5: "five",
  6: "six",
  7: "seven",
  8: "eight",
  9: "nine",
  T: "ten",
  J: "jack",
  Q: "queen",
  K: "king",
};
/** @type {Record<string, string>} */
const SUITS = { C: "clubs", D: "diamonds", H: "hearts", S: "spades" };
/** @type {Record<string, string>} */
const SYMBOLS = { C: "♣", D: "♦", H: "♥", S: "♠" };
/** @type {Record<string, string>} */
const COLOURS = { R: "red", G: "green", B: "blue", Y: "yellow" };
/** @type {Record<string, string>} */
const TRAITS = { S: "skip", R: "reverse", "+2": "draw two" };
const MONTHS = [
  "pine",
  "plum",
  "cherry",
  "wisteria",
  "iris",
  "peony",
  "bush clover",
  "pampas",
  "chrysanthemum",
  "maple",
  "willow",
  "paulownia",
];
/** @type {Record<string, string>} */
const RIBBONS = { red: "red poetry ribbon", blue: "blue ribbon", ribbon: "ribbon" };
/** @type {Record<string, string>} */
const DROSS = { a: "plain", b: "plain, second", c: "plain, third" };

const STANDARD = /^([A2-9TJQK])([CDHS])$/;
const UNO = /^(?:([RGBY])(\d|S|R|\+2)|W(\+4)?)$/;
const HANAFUDA = /^(\d{1,2})-([a-z]+)$/;
/** @type {Partial<Record<Wire.Deck, RegExp>>} */
const IN_TEXT = {
  standard: /(?<![\w=])([A2-9TJQK][CDHS])(?![\w])/g,
  uno: /(?<![\w=])([RGBY](?:\d|S|R|\+2)|W\+4|W)(?![\w+])/g,
  hanafuda: /(?<![\w-])(\d{1,2}-[a-z]+)(?![\w-])/g,
};

/**
 * Return the deck that a card's text belongs to, or null for a deck without pictures.
 * @param {string} text
 */
export function deckOf(text) {
  if (STANDARD.test(text)) return "standard";
  if (UNO.test(text)) return "uno";
  return HANAFUDA.test(text) ? "hanafuda" : null;
}

/**
 * Return what a card is called aloud; a plain deck's is called as it is written.
 * @param {string} text
 * @param {Wire.Deck | null} deck
 */
export function cardName(text, deck = null) {
  if (deck === "plain") return text;
  let found = STANDARD.exec(text);
  if (found) return `${RANKS[found[1]]} of ${SUITS[found[2]]}`;
  found = UNO.exec(text);
  if (found) {
    if (!found[1]) return found[3] ? "wild draw four" : "wild";
    return `${COLOURS[found[1]]} ${TRAITS[found[2]] ?? found[2]}`;
  }
  found = HANAFUDA.exec(text);
  if (found) {
    const month = MONTHS[Number(found[1]) - 1] ?? found[1];
    return `${month}, ${RIBBONS[found[2]] ?? DROSS[found[2]] ?? found[2]}`;
  }
  return text;
}

/**
 * Return what stands for a card in a line of text: `7♥`, `red 7`, `maple blue ribbon`.
 * @param {string} text
 */
export function cardWord(text) {
  const standard = STANDARD.exec(text);
  if (standard) {
    const rank = standard[1] === "T" ? "10" : standard[1];
    return h("span", { class: `word suit-${standard[2]}` }, `${rank}${SYMBOLS[standard[2]]}`);
  }
  const uno = UNO.exec(text);
  if (uno) return h("span", { class: `word colour-${uno[1] ?? "W"}` }, cardName(text));
  return h(
    "span",
    { class: "word" },
    cardName(text)
      .replace(/, (second|third)$/, "")
      .replace(", ", " "),
  );
}

/**
 * Return an action's text in words: what an eight or a wild calls, which stack goes where.
 * @param {string} text
 * @param {Wire.Deck} deck
 */
export function actionText(text, deck) {
  if (deck === "plain") return text;
  if (deck === "uno" && text.startsWith("start=")) return `begin with ${COLOURS[text.slice(-1)]}`;
  const called = /^(.+)=([A-Z])$/.exec(text);
  if (called) return `${called[1]} calling ${(deck === "uno" ? COLOURS : SUITS)[called[2]]}`;
  return text.replace(">", " onto ");
}

/**
 * Return text with its cards as words, and names instead of `seat n`.
 * @param {string} text
 * @param {Wire.Deck} deck
 * @param {string[]} names
 */
export function tell(text, deck, names) {
  /** @type {(string | HTMLElement)[]} */
  const parts = [];
  let at = 0;
  const pattern = IN_TEXT[deck];
  const named = withNames(text, names);
  if (pattern) {
    for (const found of named.matchAll(pattern)) {
      parts.push(named.slice(at, found.index), cardWord(found[1]));
      at = found.index + found[0].length;
    }
  }
  parts.push(named.slice(at));
  return parts;
}

/**
 * Return text as it is read aloud.
 * @param {string} text
 * @param {Wire.Deck} deck
 * @param {string[]} names
 */
export function spoken(text, deck, names) {
  const pattern = IN_TEXT[deck];
  const named = withNames(text, names);
  return pattern ? named.replace(pattern, (_, card) => cardName(card)) : named;
}

/**
 * @param {string} text
 * @param {string[]} names
 */
function withNames(text, names) {
  return text.replace(/\bseat (\d+)\b/g, (whole, seat) => names[Number(seat)] ?? whole);
}

/**
 * Return the address of a card's symbol in its sprite.
 * @param {string} text
 * @param {Wire.Deck} deck
 */
function address(text, deck) {
  return `/cards/${deck}.svg#card-${text.replace(/[^A-Za-z0-9_-]/g, "-")}`;
}

/**
 * Return a card's picture; `text` null shows its back.
 * @param {string | null} text
 * @param {Wire.Deck} deck
 * @param {{ class?: string }} [given]
 * @returns {Page.Picture}
 */
export function picture(text, deck, given = {}) {
  const real = deck === "plain" ? null : text === null ? deck : deckOf(text);
  const classes = `card deck-${real ?? "plain"} ${text === null ? "back" : "face"} ${given.class ?? ""}`;
  if (!real) {
    return h(
      "span",
      {
        class: classes,
        "aria-hidden": "true",
        data: text === null ? {} : { card: text },
        vars: { "--letters": Math.max(2, text?.length ?? 0) },
      },
      text,
    );
  }
  const drawing = s(
    "svg",
    {
      class: classes,
      viewBox: VIEW[real],
      "aria-hidden": "true",
      focusable: "false",
    },
    s("use", { href: address(text ?? "back", real) }),
  );
  if (text !== null) drawing.dataset.card = text;
  return drawing;
}

/** The shape of each deck's cards; the same numbers stand in the sprites. */
const VIEW = { standard: "0 0 100 140", uno: "0 0 100 140", hanafuda: "0 0 100 160" };

const SUIT_ORDER = "SHCD";
const RANK_ORDER = "A23456789TJQK";
const COLOUR_ORDER = "RYGB";
const TRAIT_ORDER = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "S", "R", "+2"];

/**
 * Return cards as a person holds them: by suit or colour (or by rank first), wilds last.
 * @param {string[]} cards
 * @param {Page.Order} by
 */
export function sorted(cards, by = "suit") {
  const weight = (/** @type {string} */ text) => {
    let found = STANDARD.exec(text);
    if (found) {
      const suit = SUIT_ORDER.indexOf(found[2]);
      const rank = RANK_ORDER.indexOf(found[1]);
      return by === "rank" ? 4 * rank + suit : 13 * suit + rank;
    }
    found = UNO.exec(text);
    if (found) {
      if (!found[1]) return found[3] ? 999 : 998;
      return 20 * COLOUR_ORDER.indexOf(found[1]) + TRAIT_ORDER.indexOf(found[2]);
    }
    return null;
  };
  if (cards.some((card) => weight(card) === null)) return [...cards];
  return [...cards].sort((a, b) => Number(weight(a)) - Number(weight(b)));
}

/**
 * Return the month of a hanafuda card.
 * @param {string} text
 */
export const month = (text) => Number(HANAFUDA.exec(text)?.[1] ?? 0);

// The sign of a suit letter, and the name of a suit or colour letter.
/** @param {string} letter */
export const suitSign = (letter) => SYMBOLS[letter] ?? letter;
/** @param {string} letter */
export const suitName = (letter) => SUITS[letter] ?? letter;
/** @param {string} letter */
export const colourName = (letter) => COLOURS[letter] ?? letter;

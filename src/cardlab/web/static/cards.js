// Pictures, names and sorting of cards, as the server describes their decks.

import { get } from "./api.js";
import { h, s } from "./dom.js";

/** @type {Map<string, Wire.DeckFacts>} */
const decks = new Map();

/**
 * Fetch a deck's description, once.
 * @param {string} name
 */
export async function loadDeck(name) {
  if (!decks.has(name)) decks.set(name, await get(`/cards/${name}.json`));
}

/**
 * Return the description of a card, or undefined if its deck has no such card.
 * @param {string} text
 * @param {string} deck
 */
export const cardFacts = (text, deck) => decks.get(deck)?.cards[text];

/**
 * Return a card's full name, for screen readers; without a name in its deck, its text.
 * @param {string} text
 * @param {string} deck
 */
export const cardName = (text, deck) => cardFacts(text, deck)?.name ?? text;

/**
 * Return a card's short name in a line of text: `7♥`, `red 7`, `maple blue ribbon`.
 * @param {string} text
 * @param {string} deck
 */
export const shortName = (text, deck) => cardFacts(text, deck)?.word ?? text;

/**
 * Return an element with a card's short name in its colour.
 * @param {string} text
 * @param {string} deck
 */
export const cardWord = (text, deck) =>
  h("span", { class: `word ${cardFacts(text, deck)?.paint ?? ""}` }, shortName(text, deck));

/**
 * Return a text of the server split into text, cards and seats.
 * @param {Wire.Text} given
 * @returns {Wire.Part[]}
 */
export const partsOf = ({ text, parts }) => parts ?? [text];

/**
 * Return parts of a text as elements: cards by their short names, seats by their players' names.
 * @param {Wire.Part[]} parts
 * @param {string} deck
 * @param {string[]} names
 */
export const written = (parts, deck, names) =>
  parts.map((part) => {
    if (typeof part === "string") return part;
    return "card" in part ? cardWord(part.card, deck) : seatName(part.seat, names);
  });

/**
 * Return parts of a text for screen readers.
 * @param {Wire.Part[]} parts
 * @param {string} deck
 * @param {string[]} names
 */
export const spoken = (parts, deck, names) =>
  parts
    .map((part) => {
      if (typeof part === "string") return part;
      return "card" in part ? cardName(part.card, deck) : seatName(part.seat, names);
    })
    .join("");

/**
 * @param {number} seat
 * @param {string[]} names
 */
const seatName = (seat, names) => names[seat] ?? `seat ${seat}`;

/**
 * Return a card's picture; `text` null shows its back.
 * @param {string | null} text
 * @param {string} deck
 * @param {{ class?: string }} [given]
 * @returns {Page.Picture}
 */
export function picture(text, deck, given = {}) {
  const facts = decks.get(deck);
  const drawn = facts && (text === null ? Object.keys(facts.cards).length : facts.cards[text]);
  const name = drawn ? deck : "plain";
  const classes = `card deck-${name} ${text === null ? "back" : "face"} ${given.class ?? ""}`;
  if (!facts || !drawn) {
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
  const symbol = (text ?? "back").replace(/[^A-Za-z0-9_-]/g, "-");
  const drawing = s(
    "svg",
    {
      class: classes,
      viewBox: `0 0 ${facts.width} ${facts.height}`,
      vars: { "--ratio": facts.height / facts.width },
      "aria-hidden": "true",
      focusable: "false",
    },
    s("use", { href: `/cards/${deck}.svg#card-${symbol}` }),
  );
  if (text !== null) drawing.dataset.card = text;
  return drawing;
}

/**
 * Return cards sorted as in a hand; without an order in their deck they stay as they are.
 * @param {string[]} cards
 * @param {string} deck
 * @param {Page.Order} by
 */
export function sorted(cards, deck, by = "suit") {
  const facts = decks.get(deck);
  if (!facts?.ordered || cards.some((card) => !facts.cards[card])) return [...cards];
  const places = new Map(Object.keys(facts.cards).map((card, place) => [card, place]));
  const weight = (/** @type {string} */ card) =>
    (places.get(card) ?? 0) + (by === "rank" ? places.size * (facts.cards[card].rank ?? 0) : 0);
  return [...cards].sort((a, b) => weight(a) - weight(b));
}

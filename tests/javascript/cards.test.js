// Names, order and texts of cards, as the server describes a deck.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  cardName,
  loadDeck,
  partsOf,
  shortName,
  sorted,
  spoken,
} from "../../src/cardlab/web/static/cards.js";

const card = (name, word, rank) => ({ name, word, rank });
const SIZE = { width: 100, height: 140 };
const DECKS = {
  small: {
    ...SIZE,
    ordered: true,
    cards: {
      AS: card("ace of spades", "A♠", 0),
      "2S": card("two of spades", "2♠", 1),
      KH: card("king of hearts", "K♥", 12),
      "2C": card("two of clubs", "2♣", 1),
    },
  },
  loose: { ...SIZE, ordered: false, cards: { "8-moon": {}, "1-crane": {} } },
};

globalThis.fetch = async (path) =>
  Response.json(DECKS[path.slice("/cards/".length, -".json".length)]);
await Promise.all(Object.keys(DECKS).map(loadDeck));

test("cards have names to be read aloud and short ones for a line of text", () => {
  assert.equal(cardName("KH", "small"), "king of hearts");
  assert.equal(shortName("KH", "small"), "K♥");
});

test("a card that its deck does not know is called as it is written", () => {
  assert.equal(cardName("joker", "small"), "joker");
  assert.equal(cardName("KH", "nowhere"), "KH");
  assert.equal(shortName("KH", "nowhere"), "KH");
});

test("a sentence names seats and cards", () => {
  const names = ["You", "Ada"];
  const parts = [{ seat: 1 }, " played ", { card: "KH" }, ", ", { seat: 7 }, " did not"];
  const said = "Ada played king of hearts, seat 7 did not";
  assert.equal(spoken(parts, "small", names), said);
  assert.deepEqual(partsOf({ text: "KH", parts }), parts);
  assert.equal(spoken(partsOf({ text: "seat 1 played KH" }), "small", names), "seat 1 played KH");
});

test("a hand is sorted in the order of its deck, or by rank first", () => {
  assert.deepEqual(sorted(["2C", "AS", "KH", "2S"], "small"), ["AS", "2S", "KH", "2C"]);
  assert.deepEqual(sorted(["KH", "2C", "AS", "2S"], "small", "rank"), ["AS", "2S", "2C", "KH"]);
});

test("a hand without an order, or with an unknown card, stays as it is", () => {
  for (const [cards, deck] of [
    [["8-moon", "1-crane"], "loose"],
    [["KH", "joker", "AS"], "small"],
    [["K", "A"], "nowhere"],
  ]) {
    assert.deepEqual(sorted(cards, deck), cards);
    assert.notEqual(sorted(cards, deck), cards);
  }
});

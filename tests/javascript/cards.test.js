// Names, order and texts of cards.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  actionText,
  cardName,
  deckOf,
  month,
  sorted,
  spoken,
} from "../../src/cardlab/web/static/cards.js";

test("a card's text tells its deck", () => {
  const decks = { TS: "standard", R7: "uno", "W+4": "uno", "11-rainman": "hanafuda", "#3": null };
  for (const [card, deck] of Object.entries(decks)) assert.equal(deckOf(card), deck, card);
});

test("cards have names to be read aloud", () => {
  const names = {
    "8H": "eight of hearts",
    "B+2": "blue draw two",
    GR: "green reverse",
    W: "wild",
    "W+4": "wild draw four",
    "10-blue": "maple, blue ribbon",
    "12-c": "paulownia, plain, third",
    "13-red": "13, red poetry ribbon",
    joker: "joker",
  };
  for (const [card, name] of Object.entries(names)) assert.equal(cardName(card), name);
  assert.equal(cardName("8H", "plain"), "8H");
});

test("actions are told in words", () => {
  assert.equal(actionText("8H=S", "standard"), "8H calling spades");
  assert.equal(actionText("W=G", "uno"), "W calling green");
  assert.equal(actionText("start=B", "uno"), "begin with blue");
  assert.equal(actionText("A1>A4", "standard"), "A1 onto A4");
  assert.equal(actionText("a>b", "plain"), "a>b");
});

test("a sentence names seats and cards", () => {
  const names = ["You", "Ada"];
  assert.equal(
    spoken("seat 1 played TS, seat 7 did not", "standard", names),
    "Ada played ten of spades, seat 7 did not",
  );
  assert.equal(spoken("takes 3-curtain", "hanafuda", names), "takes cherry, curtain");
  assert.equal(spoken("played TS", "plain", names), "played TS");
});

test("a hand is sorted by suit or by rank, wilds last", () => {
  assert.deepEqual(sorted(["2C", "AS", "KH", "2S"]), ["AS", "2S", "KH", "2C"]);
  assert.deepEqual(sorted(["KH", "2C", "AS", "2S"], "rank"), ["AS", "2S", "2C", "KH"]);
  assert.deepEqual(sorted(["W+4", "B0", "W", "R+2", "R9"]), ["R9", "R+2", "B0", "W", "W+4"]);
});

test("a hand of an unknown deck keeps its order and is not changed", () => {
  const cards = ["8-moon", "1-crane"];
  assert.deepEqual(sorted(cards, "month"), cards);
  assert.notEqual(sorted(cards, "month"), cards);
  assert.deepEqual(cards.map(month), [8, 1]);
});

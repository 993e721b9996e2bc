// The fair deal in the browser: the same hashes, keys and decks as Python's, and proofs that hold.

import assert from "node:assert/strict";
import { createHash, webcrypto } from "node:crypto";
import { test } from "node:test";

import {
  checkProof,
  drawNumber,
  hashOf,
  mayReveal,
} from "../../src/cardlab/web/static/fair_deal.js";
import { deriveKey, secretOrder } from "../../src/cardlab/web/static/secret_deals.js";
import { bytesOf, hexOf, sha256 } from "../../src/cardlab/web/static/sha256.js";

globalThis.crypto ??= webcrypto;

const CARDS = ["a", "b", "c", "d", "e", "f"];
const SERVER = "11".repeat(32);
const ANN = "22".repeat(32);
const BOB = "33".repeat(32);

/** Return the proof of a fair deal as the server sends it, with other parts where wanted. */
function proofOf(more = {}) {
  return {
    kind: "fair",
    commitment: hashOf(SERVER),
    commitments: [hashOf(ANN), null, hashOf(BOB)],
    secret: SERVER,
    shares: [ANN, null, BOB],
    by_server: [],
    key: hexOf(deriveKey("fair deal", SERVER, ANN, BOB)),
    cards: CARDS,
    ...more,
  };
}

/** Return a deck of a record, as far as its game uses it. */
function deckOf(key, n, used = CARDS.length) {
  const order = secretOrder(key, n, CARDS.length).slice(0, used);
  return order.map((card) => CARDS[card]).join(" ");
}

const KEY = deriveKey("fair deal", SERVER, ANN, BOB);
const DEALS = [deckOf(KEY, 0), deckOf(KEY, 1)];
const KNOWN = {
  number: ANN,
  promised: { server: hashOf(SERVER), seats: [hashOf(ANN), null, hashOf(BOB)] },
};
const found = (proof, { known = KNOWN, seat = 0, deals = DEALS } = {}) =>
  checkProof(proof, known, seat, deals).map(({ ok }) => ok);

test("hashes are those of SHA-256, whatever the length", () => {
  for (let length = 0; length < 200; length += 1) {
    const bytes = Uint8Array.from({ length }, (_, k) => (k * 7 + length) % 256);
    assert.equal(hexOf(sha256(bytes)), createHash("sha256").update(bytes).digest("hex"));
  }
  assert.equal(hashOf("é"), createHash("sha256").update("é").digest("hex"));
});

test("a number has 64 hexadecimal digits and is another one every time", () => {
  const drawn = new Set(Array.from({ length: 50 }, drawNumber));
  assert.equal(drawn.size, 50);
  for (const number of drawn) assert.match(number, /^[0-9a-f]{64}$/);
});

test("keys and decks are those of cardlab.engine.secret_deals", () => {
  const key = deriveKey("fair deal", "ab", "é");
  assert.equal(hexOf(key), "d01c697a3b0c862bc884a560803f7b51567c642086516ddcc26ea5fcfb8142f2");
  assert.deepEqual(secretOrder(key, 0, 12), [6, 3, 1, 0, 10, 2, 4, 11, 7, 8, 5, 9]);
  assert.deepEqual(secretOrder(key, 70000, 12), [9, 3, 2, 6, 1, 5, 0, 11, 10, 4, 7, 8]);
});

test("the proof of a deal as it was promised holds", () => {
  assert.deepEqual(found(proofOf()), [true, true, true, true, true]);
  const short = [deckOf(KEY, 0, 4)]; // a game that uses only some of its cards
  assert.deepEqual(found(proofOf(), { deals: short }), [true, true, true, true, true]);
  const key = deriveKey("server deal", SERVER);
  const server = proofOf({
    kind: "server",
    commitments: [null, null, null],
    shares: [null, null, null],
    key: hexOf(key),
  });
  const promised = { server: hashOf(SERVER), seats: [null, null, null] };
  const known = { number: ANN, promised };
  assert.deepEqual(found(server, { known, deals: [deckOf(key, 0)] }), [true, true, true, true]);
});

test("what was changed is found", () => {
  const other = "44".repeat(32);
  const [own, hashes, promised, key, decks] = [0, 1, 2, 3, 4];
  const wrong = (proof, more) => {
    const all = found(proof, more);
    return all.flatMap((ok, k) => (ok ? [] : [k]));
  };
  assert.deepEqual(wrong(proofOf({ shares: [other, null, BOB] })), [own, hashes, key, decks]);
  assert.deepEqual(wrong(proofOf({ shares: [ANN, null, other] })), [hashes, key, decks]);
  assert.deepEqual(wrong(proofOf({ secret: other })), [hashes, key, decks]);
  assert.deepEqual(wrong(proofOf({ shares: [ANN, null, null] })), [hashes, key, decks]);
  assert.deepEqual(wrong(proofOf({ key: hexOf(deriveKey("other")) })), [key]);
  const exchanged = proofOf({
    secret: other,
    commitment: hashOf(other),
    key: hexOf(deriveKey("fair deal", other, ANN, BOB)),
  });
  assert.deepEqual(wrong(exchanged), [promised, decks]);
  assert.deepEqual(wrong(proofOf(), { deals: [DEALS[0], DEALS[0]] }), [decks]);
  assert.deepEqual(wrong(proofOf(), { deals: [`${DEALS[0]} a`] }), [decks]);
  assert.deepEqual(wrong(proofOf(), { deals: [] }), [decks]);
});

test("what a browser cannot know it does not call right", () => {
  const nothing = { number: null, promised: null };
  assert.deepEqual(found(proofOf(), { known: nothing, deals: null }), [null, true, null, true, null]);
  assert.equal(found(proofOf(), { seat: null }).length, 4); // whoever looks on has no number
});

test("a number is sent only when all others are fixed by their hashes", () => {
  const seats = [{ kind: "person" }, { kind: "agent" }, { kind: "open" }];
  const deal = {
    kind: "fair",
    commitment: hashOf(SERVER),
    commitments: [hashOf(ANN), null, hashOf(BOB)],
    reveal: true,
  };
  const may = (more, promised = hashOf(SERVER)) =>
    mayReveal({ ...deal, ...more }, seats, 0, ANN, promised);
  assert.equal(may({}), true);
  assert.equal(may({ reveal: false }), false);
  assert.equal(may({ commitments: [hashOf(ANN), null, null] }), false);
  assert.equal(may({ commitments: [hashOf(BOB), null, hashOf(BOB)] }), false);
  assert.equal(may({}, hashOf(BOB)), false); // the server has exchanged its number
  assert.equal(bytesOf(ANN).length, 64);
});

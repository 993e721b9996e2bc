// Deck orders from a secret key, as `cardlab.engine.secret_deals` makes them.

import { bytesOf, hexOf, sha256 } from "./sha256.js";

/**
 * @param {Uint8Array[]} parts
 */
function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * Return a number as bytes, the highest first.
 * @param {number} number
 * @param {number} length
 */
const bigEndian = (number, length) =>
  Uint8Array.from({ length }, (_, k) => Math.floor(number / 256 ** (length - 1 - k)) % 256);

/**
 * Return a key that depends on every part and on where each of them ends.
 * @param {string[]} parts
 */
export function deriveKey(...parts) {
  const pieces = parts.map(bytesOf);
  return sha256(joined(...pieces.flatMap((piece) => [bigEndian(piece.length, 8), piece])));
}

/**
 * Return the n-th deck order of a key: the cards sorted by their hashes.
 * @param {Uint8Array} key
 * @param {number} n
 * @param {number} cards
 */
export function secretOrder(key, n, cards) {
  const start = joined(key, bigEndian(n, 4));
  const ranks = Array.from({ length: cards }, (_, card) => ({
    card,
    rank: hexOf(sha256(joined(start, bigEndian(card, 2)))),
  }));
  ranks.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return ranks.map(({ card }) => card);
}

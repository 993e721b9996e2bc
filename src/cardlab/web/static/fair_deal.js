// The browser's side of a fair deal: its secret number, the hash, and the checks after the game.
//
// The server and every player's browser draw a number each and publish its hash; the numbers are
// sent only when all hashes are known. All decks are derived from all numbers, as
// `cardlab.web.room_deal` defines it.

import { deriveKey, secretOrder } from "./secret_deals.js";
import { bytesOf, hexOf, sha256 } from "./sha256.js";

const NUMBER_BYTES = 32;

/** Return a new secret number, as the server expects it: 64 hexadecimal digits. */
export const drawNumber = () => hexOf(crypto.getRandomValues(new Uint8Array(NUMBER_BYTES)));

/**
 * Return the hash that commits to a number.
 * @param {string} number
 */
export const hashOf = (number) => hexOf(sha256(bytesOf(number)));

/**
 * Return the key that the numbers of a proof lead to.
 * @param {Wire.Proof} proof
 */
function keyOf(proof) {
  const shares = proof.shares.filter((share) => share !== null);
  return proof.kind === "server"
    ? deriveKey("server deal", proof.secret)
    : deriveKey("fair deal", proof.secret, ...shares);
}

/**
 * Return whether this browser may send its number: the hashes of all others must be known.
 * @param {Wire.Progress} deal
 * @param {Wire.Seat[]} seats
 * @param {number} seat
 * @param {string} number
 * @param {string | null} promised the server's hash when this browser first saw it
 */
export function mayReveal(deal, seats, seat, number, promised) {
  const all = seats.every((other, k) => other.kind === "agent" || deal.commitments[k]);
  const own = deal.commitments[seat] === hashOf(number);
  return deal.reveal && all && own && deal.commitment === promised;
}

/**
 * Return the checks of a deal after the game; `ok` is null where this browser cannot check.
 * @param {Wire.Proof} proof
 * @param {Page.DealMemory} known
 * @param {number | null} seat this browser's own seat
 * @param {string[] | null} deals the decks of the game's record, as text
 * @returns {Page.Check[]}
 */
export function checkProof(proof, known, seat, deals) {
  const fair = proof.kind === "fair";
  const pairs = [
    [proof.secret, proof.commitment],
    ...proof.shares.map((share, k) => [share, proof.commitments[k] ?? null]),
  ];
  const hashes = pairs.every(([number, hash]) => (number === null ? null : hashOf(number)) === hash);
  const same = (/** @type {Page.Promised} */ seen) =>
    seen.server === proof.commitment &&
    seen.seats.every((hash, k) => hash === null || hash === (proof.commitments[k] ?? null));
  const key = keyOf(proof);
  /** @type {Page.Check[]} */
  const checks = [
    {
      text: fair
        ? "Every number matches the hash that was shown before the game."
        : "The server’s number matches the hash that was shown before the game.",
      ok: hashes,
    },
    {
      text: "No hash has changed since this browser first saw it.",
      ok: known.promised ? same(known.promised) : null,
    },
    { text: "The key of the decks is derived from these numbers.", ok: hexOf(key) === proof.key },
    {
      text: "Every deck in the game’s record is derived from the key.",
      ok: deals && deals.length > 0 && deals.every((deal, n) => follows(deal, key, n, proof.cards)),
    },
  ];
  if (fair && seat !== null) {
    checks.unshift({
      text: "The number that your browser drew is among them.",
      ok: known.number ? proof.shares[seat] === known.number : null,
    });
  }
  return checks;
}

/**
 * Return whether a deck is the n-th of a key; a record holds only the cards that a game uses.
 * @param {string} deal
 * @param {Uint8Array} key
 * @param {number} n
 * @param {string[]} cards
 */
function follows(deal, key, n, cards) {
  const given = deal.split(" ");
  const order = secretOrder(key, n, cards.length).map((card) => cards[card]);
  return given.length <= order.length && given.every((card, k) => card === order[k]);
}

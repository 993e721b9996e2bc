// SHA-256 in JavaScript: browsers offer their own only to pages from HTTPS or localhost, and a
// table on a home network is neither.

const ROUNDS = 64;
const BLOCK = 64; // bytes

/** The first 32 bits of the fractional parts of a root of each of the first primes. */
const [FIRST, CONSTANTS] = (() => {
  const start = new Uint32Array(8);
  const constants = new Uint32Array(ROUNDS);
  let found = 0;
  for (let n = 2; found < ROUNDS; n += 1) {
    let prime = true;
    for (let k = 2; k * k <= n && prime; k += 1) prime = n % k !== 0;
    if (!prime) continue;
    if (found < start.length) start[found] = (Math.sqrt(n) % 1) * 2 ** 32;
    constants[found] = (Math.cbrt(n) % 1) * 2 ** 32;
    found += 1;
  }
  return [start, constants];
})();

/**
 * @param {number} word
 * @param {number} by
 */
const turned = (word, by) => (word >>> by) | (word << (32 - by));

/**
 * Return the hash of some bytes, as FIPS 180-4 defines it.
 * @param {Uint8Array} bytes
 */
export function sha256(bytes) {
  const blocks = Math.ceil((bytes.length + 9) / BLOCK);
  const padded = new Uint8Array(blocks * BLOCK);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const hash = FIRST.slice();
  const words = new Uint32Array(ROUNDS);
  for (let at = 0; at < padded.length; at += BLOCK) {
    for (let k = 0; k < 16; k += 1) words[k] = view.getUint32(at + 4 * k);
    for (let k = 16; k < ROUNDS; k += 1) {
      const [x, y] = [words[k - 15], words[k - 2]];
      const low = turned(x, 7) ^ turned(x, 18) ^ (x >>> 3);
      const high = turned(y, 17) ^ turned(y, 19) ^ (y >>> 10);
      words[k] = words[k - 16] + low + words[k - 7] + high;
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let k = 0; k < ROUNDS; k += 1) {
      const choice = (e & f) ^ (~e & g);
      const majority = (a & b) ^ (a & c) ^ (b & c);
      const one = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + choice + CONSTANTS[k] + words[k];
      const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + majority;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, k) => (hash[k] += word));
  }
  const out = new DataView(new ArrayBuffer(32));
  hash.forEach((word, k) => out.setUint32(4 * k, word));
  return new Uint8Array(out.buffer);
}

/**
 * Return bytes as hexadecimal digits.
 * @param {Uint8Array} bytes
 */
export const hexOf = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * Return the bytes of a text.
 * @param {string} text
 */
export const bytesOf = (text) => new TextEncoder().encode(text);

// What this browser remembers: theme, speed, the player's name, seats at tables.

import { drawNumber } from "./fair_deal.js";

const PREFIX = "cardlab.";
/** @type {Map<string, unknown>} */
const memory = new Map();

/**
 * Return the value saved under a name, or `other`.
 * @template Value
 * @param {string} name
 * @param {Value} other
 * @returns {Value}
 */
export function recall(name, other) {
  const held = /** @type {Value | undefined} */ (memory.get(name)) ?? other;
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? held : JSON.parse(text);
  } catch {
    return held;
  }
}

/**
 * Save a value under a name; without storage, until the page is closed.
 * @param {string} name
 * @param {unknown} value
 */
export function keep(name, value) {
  memory.set(name, value);
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Private windows may not allow it; the value is kept until the page is closed.
  }
}

/**
 * How long a move of another seat is shown before the next one, in milliseconds.
 * @type {Record<string, number>}
 */
export const PACES = { slow: 2000, normal: 1000, fast: 400, instant: 0 };

/** Return the chosen speed in milliseconds. */
export const pace = () => PACES[recall("pace", "normal")] ?? PACES.normal;

/** Return whether cards are animated: never if the system asks for reduced motion. */
export const glides = () =>
  pace() > 0 && !window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Return the current theme. */
export function theme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen) return chosen;
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/**
 * Change the theme and remember it as plain text, which theme.js reads.
 * @param {"dark" | "light"} name
 */
export function setTheme(name) {
  document.documentElement.dataset.theme = name;
  try {
    localStorage.setItem(`${PREFIX}theme`, name);
  } catch {
    // Not saved, but in effect until the page is closed.
  }
}

const MOST_TABLES = 40;

/** @returns {Record<string, Page.TableMemory>} */
const allTables = () => recall("tables", {});

/**
 * Return what this browser knows of a table: its seat's secret, links for others, settings.
 * @param {string} id
 * @returns {Partial<Page.TableMemory>}
 */
export const tableMemory = (id) => allTables()[id] ?? {};

/**
 * Add to what this browser knows of a table; the tables used longest ago are forgotten.
 * @param {string} id
 * @param {Partial<Page.TableMemory>} more
 */
export function rememberTable(id, more) {
  const tables = allTables();
  const entry = { ...tables[id], ...more, at: Date.now() };
  const kept = Object.entries({ ...tables, [id]: entry }).sort((a, b) => b[1].at - a[1].at);
  keep("tables", Object.fromEntries(kept.slice(0, MOST_TABLES)));
}

/** Return the tables that this browser has a seat at, the latest first. */
export const ownTables = () =>
  Object.entries(allTables())
    .filter(([, entry]) => entry.secret)
    .sort((a, b) => b[1].at - a[1].at)
    .map(([id, entry]) => ({ id, ...entry }));

const SEAT = `${PREFIX}seat.`;

/**
 * Return the secret of the seat that this tab holds, otherwise of the one that the browser knows.
 * @param {string} id
 */
export function seatSecret(id) {
  try {
    const own = sessionStorage.getItem(SEAT + id);
    if (own) return own;
  } catch {
    // Without storage for tabs the seat known to the browser is used.
  }
  return tableMemory(id).secret ?? null;
}

/**
 * Take a seat in this tab; the browser keeps the first seat it had, whatever links are tried.
 * @param {string} id
 * @param {string} secret
 */
export function takeSeat(id, secret) {
  if (!tableMemory(id).secret) rememberTable(id, { secret });
  try {
    sessionStorage.setItem(SEAT + id, secret);
  } catch {
    rememberTable(id, { secret });
  }
}

/**
 * Forget the seat of this tab, because its secret is wrong.
 * @param {string} id
 */
export function leaveSeat(id) {
  const wrong = seatSecret(id);
  if (tableMemory(id).secret === wrong) rememberTable(id, { secret: null });
  try {
    sessionStorage.removeItem(SEAT + id);
  } catch {
    // There was nothing to remove.
  }
}

/**
 * Return the secret number that this browser adds to a fair deal for its seat; it is drawn once.
 * @param {string} id
 */
export function dealNumber(id) {
  const secret = seatSecret(id);
  if (!secret) return null;
  const numbers = tableMemory(id).numbers ?? {};
  if (!numbers[secret]) rememberTable(id, { numbers: { ...numbers, [secret]: drawNumber() } });
  return tableMemory(id).numbers?.[secret] ?? null;
}

/**
 * Save the hashes of a deal when they are first seen, and return the saved ones.
 * @param {string} id
 * @param {Wire.Deal} deal
 * @param {boolean} fixed whether the hashes of the players can no longer change
 * @returns {Page.Promised}
 */
export function promisedDeal(id, deal, fixed) {
  const known = tableMemory(id).promised;
  if (known && (known.seats.length || !fixed)) return known;
  const promised = {
    server: known ? known.server : deal.commitment,
    seats: fixed ? deal.commitments : [],
  };
  rememberTable(id, { promised });
  return promised;
}

// Loads the page of a game (module, style, deck) and draws views with it.

import { loadDeck } from "./cards.js";
import { h, isolated, put } from "./dom.js";

const NARROW = 640;

/**
 * Load everything to draw a game; games without their own page share the generic one.
 * @param {Wire.GamePage} page
 * @returns {Promise<Page.Renderer>}
 */
export async function loadPage(page) {
  const [renderer] = await Promise.all([
    import(page.module ?? "./board/generic.js"),
    page.style ? loadStyle(page.style) : null,
    loadDeck(page.deck),
  ]);
  return renderer;
}

/** @type {Map<string, Promise<unknown>>} */
const styles = new Map();

/**
 * Load a style sheet, once; if that fails the page is drawn without it.
 * @param {string} address
 */
function loadStyle(address) {
  const known = styles.get(address);
  if (known) return known;
  const link = h("link", { rel: "stylesheet", href: address });
  const done = new Promise((settled) => {
    link.addEventListener("load", settled);
    link.addEventListener("error", settled);
  });
  styles.set(address, done);
  document.head.append(link);
  return done;
}

/**
 * Return the names of seats, `You` for the own one; equal names get a number.
 * @param {{ name: string | null }[]} seats
 * @param {number | null} own
 */
export function namesOf(seats, own) {
  const plain = seats.map((entry, seat) => (seat === own ? "You" : isolated(entry.name ?? `Seat ${seat + 1}`)));
  return plain.map((name, seat) =>
    plain.filter((other) => other === name).length > 1
      ? `${name} ${plain.slice(0, seat + 1).filter((other) => other === name).length}`
      : name,
  );
}

/**
 * Return the part of a renderer's context that depends on the size of the window.
 * @param {HTMLElement} board
 * @returns {Page.Measures}
 */
export function measures(board) {
  const width = board.clientWidth || window.innerWidth;
  const narrow = width < NARROW;
  return { width, narrow, cardWidth: narrow ? 66 : 96 };
}

/**
 * Draw the board again; the focus stays where it was, or goes to the first possible action.
 * @param {HTMLElement} board
 * @param {Page.Renderer} renderer
 * @param {Page.Context} ctx
 */
export function draw(board, renderer, ctx) {
  const active = document.activeElement;
  const inside = board.contains(active);
  /** @type {HTMLElement | null | undefined} */
  const held = inside ? active?.closest("[data-key]") : null;
  const key = held?.dataset.key;
  put(board, renderer.render(ctx));
  board.dataset.game = ctx.game;
  board.dataset.version = String(ctx.view.version);
  board.dataset.narrow = ctx.narrow ? "yes" : "no";
  board.dataset.turn = ctx.mine ? "yes" : "no";
  if (!inside && active && active !== document.body) return;
  /** @type {HTMLElement | null} */
  const same = key ? board.querySelector(`[data-key="${CSS.escape(key)}"]`) : null;
  /** @type {HTMLElement | null} */
  const first = board.querySelector(
    ".can:not([aria-disabled]), .action-bar button:not([aria-disabled])",
  );
  const target =
    same && same.getAttribute("aria-disabled") !== "true"
      ? same
      : ctx.mine
        ? (first ?? same)
        : same;
  target?.focus({ preventScroll: true });
}

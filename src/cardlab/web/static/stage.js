// Draws a view of any game: picks the renderer, keeps focus where it was, measures the felt.

import { isolated, put } from "./dom.js";

/** @type {Record<string, () => Promise<Page.Renderer>>} */
const RENDERERS = {
  crazy_eights: () => import("./games/crazy_eights.js"),
  uno: () => import("./games/uno.js"),
  birds_of_a_feather: () => import("./games/birds_of_a_feather.js"),
  koi_koi: () => import("./games/koi_koi.js"),
  cribbage: () => import("./games/cribbage.js"),
};
const NARROW = 640;

/**
 * Return the renderer of a game; games without one of their own share the generic one.
 * @param {string} game
 * @returns {Promise<Page.Renderer>}
 */
export const rendererOf = (game) => (RENDERERS[game] ?? (() => import("./games/generic.js")))();

/**
 * Return what seats are called, `You` for the person's own; equal names are told apart.
 * @param {{ name: string | null }[]} seats
 * @param {number | null} own
 */
export function namesOf(seats, own) {
  const plain = seats.map((one, seat) => (seat === own ? "You" : isolated(one.name ?? `Seat ${seat + 1}`)));
  return plain.map((name, seat) =>
    plain.filter((one) => one === name).length > 1
      ? `${name} ${plain.slice(0, seat + 1).filter((one) => one === name).length}`
      : name,
  );
}

/**
 * Return the part of a renderer's context that the window decides.
 * @param {HTMLElement} board
 * @returns {Page.Measures}
 */
export function measures(board) {
  const width = board.clientWidth || window.innerWidth;
  const narrow = width < NARROW;
  return { width, narrow, cardWidth: narrow ? 66 : 96 };
}

/**
 * Draw the board anew; focus goes back to what had it, or to the first thing to do.
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

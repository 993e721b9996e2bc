// Animates cards from their old to their new places with View Transitions.

import { h } from "./dom.js";
import { picture } from "./cards.js";
import { glides } from "./settings.js";

const MOST_FROM_STOCK = 12;

/**
 * Return the pictures that a selector finds.
 * @param {Element} root
 * @param {string} selector
 */
function pictures(root, selector) {
  /** @type {NodeListOf<HTMLElement | SVGElement>} */
  const found = root.querySelectorAll(selector);
  return [...found];
}

/** @param {Element} root */
function clear(root) {
  for (const card of pictures(root, ".named")) {
    card.classList.remove("named");
    card.style.viewTransitionName = "";
  }
}

/**
 * Give every movable card of the board a unique name; the own hand comes first.
 * @param {Element} root
 */
function name(root) {
  clear(root);
  const seen = new Map();
  const movable = pictures(root, ".card[data-card][data-move]");
  movable.sort((a, b) => (b.closest(".hand") ? 1 : 0) - (a.closest(".hand") ? 1 : 0));
  for (const card of movable) {
    const base = labelOf(card.dataset.card ?? "");
    const copy = seen.get(base) ?? 0;
    seen.set(base, copy + 1);
    card.style.viewTransitionName = `${base}-${copy}`;
    card.classList.add("named");
  }
}

/** @param {string} card */
const labelOf = (card) => `card-${card.replace(/[^A-Za-z0-9_-]/g, "-")}`;

/**
 * Return how often each visible card occurs in a description.
 * @param {Wire.Description} description
 */
function open(description) {
  /** @type {Map<string, number>} */
  const cards = new Map();
  for (const zone of description.zones) {
    for (const card of zone.cards) cards.set(card, (cards.get(card) ?? 0) + 1);
  }
  return cards;
}

/**
 * Prepare the old board: cards about to appear start from the mover's hand or from the stock.
 * @param {Element} root
 * @param {Wire.Description} before
 * @param {Page.View} view
 */
function prepare(root, before, view) {
  name(root);
  const old = open(before);
  /** @type {HTMLElement | null} */
  const stock = root.querySelector("[data-stock]");
  const move = view.move;
  let fromStock = 0;
  for (const [card, copies] of open(view.description)) {
    if ((old.get(card) ?? 0) >= copies) continue;
    const base = labelOf(card);
    const own = view.description.zones.find((z) => z.name === "hand" && z.seat === view.seat);
    const held = own ? own.cards.filter((other) => other === card).length : 0;
    const label = `${base}-${Math.max(0, own?.cards.includes(card) ? held - 1 : held)}`;
    const played = move && move.card === card && move.seat !== view.seat;
    const back = played
      ? pictures(root, `[data-backs="${move.seat}"] .card:last-of-type`)[0]
      : null;
    const used = pictures(root, ".named").find(
      (image) => image.style.viewTransitionName === label,
    );
    if (used) used.style.viewTransitionName = "";
    if (back) {
      back.style.viewTransitionName = label;
      back.classList.add("named");
    } else if (stock && fromStock < MOST_FROM_STOCK) {
      fromStock += 1;
      const source = h("span", { class: "source" }, picture(null, stock.dataset.stock ?? ""));
      source.style.viewTransitionName = label;
      source.classList.add("named");
      stock.append(source);
    }
  }
}

/**
 * Change the board by `draw`, animated unless switched off; resolves when the animation has ended.
 * @param {Element} root
 * @param {Wire.Description | null} before
 * @param {Page.View} view
 * @param {() => void} draw
 */
export async function glide(root, before, view, draw) {
  if (!document.startViewTransition || !glides() || !before || document.hidden) {
    draw();
    return;
  }
  prepare(root, before, view);
  const transition = document.startViewTransition(() => {
    draw();
    name(root);
  });
  // A transition that the browser skips (a hidden tab) still draws the board.
  transition.ready.catch(() => {});
  await transition.updateCallbackDone;
  await transition.finished.catch(() => {});
  clear(root);
}

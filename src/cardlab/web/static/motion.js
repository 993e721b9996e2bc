// Cards that glide from where they were to where they are, by View Transitions.

import { h } from "./dom.js";
import { picture } from "./cards.js";
import { glides } from "./settings.js";

const MOST_FROM_STOCK = 12;

function clear(root) {
  for (const card of root.querySelectorAll(".named")) {
    card.classList.remove("named");
    card.style.viewTransitionName = "";
  }
}

/** Give every movable card of the board a name that no other one has; the own hand comes first. */
function name(root) {
  clear(root);
  const seen = new Map();
  const movable = [...root.querySelectorAll(".card[data-card][data-move]")];
  movable.sort((a, b) => (b.closest(".hand") ? 1 : 0) - (a.closest(".hand") ? 1 : 0));
  for (const card of movable) {
    const base = `card-${card.dataset.card.replace(/[^A-Za-z0-9_-]/g, "-")}`;
    const copy = seen.get(base) ?? 0;
    seen.set(base, copy + 1);
    card.style.viewTransitionName = `${base}-${copy}`;
    card.classList.add("named");
  }
}

/** Cards of a description that lie open, each as often as it does. */
function open(description) {
  const cards = new Map();
  for (const zone of description?.zones ?? []) {
    for (const card of zone.cards) cards.set(card, (cards.get(card) ?? 0) + 1);
  }
  return cards;
}

/** Prepare the old board: what is about to appear leaves from the mover's hand or the stock. */
function prepare(root, before, view) {
  name(root);
  const old = open(before?.description);
  const stock = root.querySelector("[data-stock]");
  const move = view.move;
  let fromStock = 0;
  for (const [card, copies] of open(view.description)) {
    if ((old.get(card) ?? 0) >= copies) continue;
    const base = `card-${card.replace(/[^A-Za-z0-9_-]/g, "-")}`;
    const own = view.description.zones.find((z) => z.name === "hand" && z.seat === view.seat);
    const held = own ? own.cards.filter((one) => one === card).length : 0;
    const label = `${base}-${Math.max(0, own?.cards.includes(card) ? held - 1 : held)}`;
    const played = move && move.card === card && move.seat !== view.seat;
    const back = played
      ? root.querySelector(`[data-backs="${move.seat}"] .card:last-of-type`)
      : null;
    const used = [...root.querySelectorAll(".named")].find(
      (one) => one.style.viewTransitionName === label,
    );
    if (used) used.style.viewTransitionName = "";
    if (back) {
      back.style.viewTransitionName = label;
      back.classList.add("named");
    } else if (stock && fromStock < MOST_FROM_STOCK) {
      fromStock += 1;
      const source = h("span", { class: "source" }, picture(null, stock.dataset.stock));
      source.style.viewTransitionName = label;
      source.classList.add("named");
      stock.append(source);
    }
  }
}

/** Change the board by `draw`, gliding where the person wants it; resolves when the cards lie. */
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

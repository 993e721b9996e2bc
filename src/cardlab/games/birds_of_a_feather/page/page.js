// Birds of a Feather: a grid of sixteen stacks; click or drag a stack onto another one.

import { cardName, picture } from "/static/cards.js";
import { button, count, h } from "/static/dom.js";
import { hintBar, prompt, rove } from "/static/board/kit.js";

/** @typedef {{ grid: (string | null)[][], sizes: number[][] }} Extra cards on top, stack sizes */

const ROWS = "ABCD";
const NEAR = 8; // pixels that a pointer may move before a click counts as a drag

/** @type {Page.Order} */
export const order = "suit";

/** @type {string | null} */
let chosen = null; // the selected cell of this position
let chosenAt = -1;

/**
 * Draw the table.
 * @param {Page.Context<Extra>} ctx
 */
export function render(ctx) {
  if (chosenAt !== ctx.view.version || ctx.view.over) chosen = null;
  chosenAt = ctx.view.version;
  const { grid = [], sizes } = ctx.view.extra;
  const moves = ctx.legal;
  const board = h("div", {
    class: "birds",
    role: "group",
    "aria-label": "Grid of four rows and four columns",
  });
  grid.forEach((row, y) => {
    row.forEach((card, x) =>
      board.append(cell(ctx, board, moves, card, ROWS[y] + (x + 1), sizes?.[y]?.[x] ?? 1)),
    );
  });
  rove(board, ".cell", 4);
  mark(ctx, board, moves);
  const stacks = ctx.view.description.facts.stacks ?? grid.flat().filter(Boolean).length;
  const wanted =
    "Choose a stack, then another one in its row or column with the same suit or a neighbouring rank";
  return [
    h(
      "section",
      { class: "birds-head" },
      h(
        "p",
        { class: "stacks" },
        h("strong", {}, String(stacks)),
        ` ${stacks === 1 ? "stack" : "stacks"} left`,
      ),
      ctx.watch
        ? null
        : h(
            "div",
            { class: "birds-tools" },
            button("Undo", () => ctx.send({ type: "undo" }), {
              "aria-disabled": ctx.view.ply === 0 ? "true" : null,
              title: "Take one move back (U)",
              data: { key: "undo" },
            }),
            button("Still solvable?", () => ctx.send({ type: "solvable" }), {
              title: "Ask the solver (S)",
              data: { key: "solvable" },
            }),
            h("span", { class: "verdict", role: "status" }, ctx.solvable ?? ""),
          ),
    ),
    board,
    prompt(ctx, wanted),
  ];
}

/**
 * Handle the keys of this game; return whether the key was one of them.
 * @param {Page.Context} ctx
 * @param {string} name
 */
export function key(ctx, name) {
  if (ctx.watch) return false;
  if (name === "u") ctx.send({ type: "undo" });
  else if (name === "s") ctx.send({ type: "solvable" });
  else if (name === "Escape" && chosen) {
    chosen = null;
    ctx.redraw();
  } else return false;
  return true;
}

/**
 * @param {Page.Context} ctx
 * @param {HTMLElement} board
 * @param {Wire.Action[]} moves
 * @param {string | null} card
 * @param {string} name
 * @param {number} size
 */
function cell(ctx, board, moves, card, name, size) {
  const from = moves.filter((move) => move.from === name);
  const image = card ? picture(card, ctx.deck) : null;
  if (image) image.dataset.move = "";
  return h(
    "button",
    {
      type: "button",
      class: `cell ${card ? "" : "empty"} ${from.length ? "can" : ""}`,
      "aria-disabled": card && from.length ? null : "true",
      "aria-label": `${name}: ${card ? cardName(card, ctx.deck) : "empty"}${size > 1 ? `, ${count(size, "card")}` : ""}`,
      data: {
        key: `cell:${name}`,
        cell: name,
        ...(name[1] === "1" ? { row: name[0] } : {}),
        ...(name[0] === "A" ? { column: name[1] } : {}),
      },
      vars: { "--depth": Math.min(size - 1, 5) },
      on: {
        click: () => click(ctx, board, moves, name),
        pointerdown: (event) => drag(ctx, board, moves, name, event),
      },
    },
    image,
    card && size > 1 ? h("span", { class: "tally", "aria-hidden": "true" }, String(size)) : null,
    ctx.mine ? hintBar(ctx, from) : null,
  );
}

/**
 * @param {Page.Context} ctx
 * @param {HTMLElement} board
 * @param {Wire.Action[]} moves
 * @param {string} name
 */
function click(ctx, board, moves, name) {
  const move = moves.find((legal) => legal.from === chosen && legal.to === name);
  if (move) ctx.act(move.id);
  else {
    const can = moves.some((legal) => legal.from === name);
    chosen = can && chosen !== name ? name : null;
    mark(ctx, board, moves);
  }
}

/**
 * @param {Page.Context} ctx
 * @param {HTMLElement} board
 * @param {Wire.Action[]} moves
 */
function mark(ctx, board, moves) {
  const targets = new Map(
    moves.filter((legal) => legal.from === chosen).map((legal) => [legal.to, legal]),
  );
  board.classList.toggle("choosing", Boolean(chosen));
  /** @type {NodeListOf<HTMLElement>} */
  const cells = board.querySelectorAll(".cell");
  for (const stack of cells) {
    const target = targets.get(stack.dataset.cell ?? "");
    stack.classList.toggle("chosen", stack.dataset.cell === chosen);
    stack.classList.toggle("target", Boolean(target));
    stack.setAttribute("aria-pressed", String(stack.dataset.cell === chosen));
    stack.querySelector(".hint-bar.aim")?.remove();
    const bar = target ? hintBar(ctx, [target]) : null;
    if (bar) {
      bar.classList.add("aim");
      stack.append(bar);
    }
  }
}

/**
 * @param {Page.Context} ctx
 * @param {HTMLElement} board
 * @param {Wire.Action[]} moves
 * @param {string} name
 * @param {PointerEvent & { readonly currentTarget: HTMLElement }} down
 */
function drag(ctx, board, moves, name, down) {
  if (!ctx.mine || down.button !== 0 || !moves.some((legal) => legal.from === name)) return;
  const element = down.currentTarget;
  let moving = false;
  const shift = (/** @type {PointerEvent} */ event) => {
    const [x, y] = [event.clientX - down.clientX, event.clientY - down.clientY];
    if (!moving && Math.hypot(x, y) < NEAR) return;
    if (!moving) {
      moving = true;
      chosen = name;
      mark(ctx, board, moves);
      element.classList.add("dragged");
    }
    element.style.translate = `${x}px ${y}px`;
  };
  const end = (/** @type {PointerEvent} */ event) => {
    window.removeEventListener("pointermove", shift);
    window.removeEventListener("pointerup", end);
    window.removeEventListener("pointercancel", end);
    if (!moving) return;
    element.classList.remove("dragged");
    element.style.translate = "";
    /** @type {(HTMLElement | null)[]} */
    const under = document
      .elementsFromPoint(event.clientX, event.clientY)
      .map((found) => found.closest(".cell"));
    const target = under.find((found) => found && found !== element);
    const move = moves.find((legal) => legal.from === name && legal.to === target?.dataset.cell);
    const hush = (/** @type {Event} */ after) => after.stopImmediatePropagation(); // of the click that follows a drag
    window.addEventListener("click", hush, { capture: true });
    setTimeout(() => {
      window.removeEventListener("click", hush, { capture: true });
      chosen = null;
      if (event.type === "pointerup" && move) ctx.act(move.id);
      else mark(ctx, board, moves);
    });
  };
  // A fast pointer leaves the card before the first event, so the window listens.
  window.addEventListener("pointermove", shift);
  window.addEventListener("pointerup", end);
  window.addEventListener("pointercancel", end);
}

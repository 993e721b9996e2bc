// Kuhn poker: the chips of both seats in the pot, the bet that waits for its answer.

import { h } from "/static/dom.js";
import { actionBar, facts, hand, opponents, own, prompt } from "/static/board/kit.js";

/** @typedef {{ chips: number[], waits: boolean }} Extra chips in the pot by seat; a bet waits */

/** @type {Page.Order} */
export const order = "rank";

/**
 * Draw the table.
 * @param {Page.Context<Extra>} ctx
 */
export function render(ctx) {
  const { chips = [0, 0], waits = false } = ctx.view.extra;
  const pot = chips[0] + chips[1];
  const seats = [1 - ctx.seat, ctx.seat]; // the own chips lie nearer to the own card
  return [
    opponents(ctx),
    h(
      "section",
      { class: "middle kuhn", "aria-label": "Middle of the table" },
      h(
        "div",
        { class: "pot", role: "img", "aria-label": `the pot: ${pot} chips` },
        seats.map((seat) =>
          h(
            "span",
            { class: `chips of-${seat}`, "aria-hidden": "true" },
            Array.from({ length: chips[seat] }, () => h("span", { class: "chip" })),
          ),
        ),
        h("span", { class: "place-name" }, `pot ${pot}`),
      ),
    ),
    facts(ctx, ["pot", "result"]),
    prompt(ctx, waits ? "Your turn: see the bet, or pass and lose a chip" : "Your turn: bet or pass"),
    own(
      ctx,
      actionBar(ctx, (action) => label(action, waits)),
      hand(ctx, { pick: () => {} }),
    ),
  ];
}

/**
 * Return what a button says.
 * @param {Wire.Action} action
 * @param {boolean} waits
 */
function label(action, waits) {
  if (action.kind === "bet") return waits ? "See the bet" : "Bet a chip";
  return waits ? "Give up" : "Pass";
}

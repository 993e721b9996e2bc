// Crazy Eights: stock and pile in the middle, the current suit beside them.

import { h } from "/static/dom.js";
import {
  actionBar,
  actionsOf,
  choose,
  facts,
  hand,
  opponents,
  own,
  pile,
  prompt,
  stock,
} from "/static/board/kit.js";

/** @type {Record<string, string>} */
const SIGNS = { clubs: "♣", diamonds: "♦", hearts: "♥", spades: "♠" };

/** @param {string} suit */
const colourOf = (suit) => `suit-${suit[0].toUpperCase()}`;

/**
 * Return `an ace`, `a six`; null for an eight, of which only the called suit matters.
 * @param {Page.Context<Extra>} ctx
 */
function rankName(ctx) {
  const { rank } = ctx.view.extra;
  return rank && rank !== "eight" ? `${rank === "ace" ? "an" : "a"} ${rank}` : null;
}

/** @typedef {{ suit: string | null, rank: string | null }} Extra current suit, rank of the top card */

/** @type {Page.Order} */
export const order = "suit";

/**
 * Draw the table.
 * @param {Page.Context<Extra>} ctx
 */
export function render(ctx) {
  const { suit } = ctx.view.extra;
  const draw = ctx.legal.find((action) => action.kind === "draw");
  const drew = ctx.view.description.facts["you drew"];
  const eights = ctx.legal.some((action) => action.call);
  const rank = rankName(ctx);
  const ways = suit
    ? [`a ${suit.slice(0, -1)}`, rank, eights ? "an eight" : null].filter(Boolean)
    : [];
  const wanted = ways.length
    ? `Your turn: play ${ways.slice(0, -1).join(", ")}${ways.length > 1 ? " or " : ""}${ways.at(-1)}`
    : "Your turn";
  return [
    opponents(ctx),
    h(
      "section",
      { class: "middle", "aria-label": "Middle of the table" },
      stock(ctx, { action: draw, label: "Draw a card" }),
      pile(ctx),
      suit
        ? h(
            "div",
            {
              class: `in-force ${colourOf(suit)}`,
              role: "img",
              "aria-label": `current suit: ${suit}`,
            },
            h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[suit]),
            h("span", { class: "place-name" }, suit),
          )
        : null,
    ),
    facts(ctx, ["suit", "result", "you drew"]),
    prompt(ctx, drew ? `${wanted}. You drew ${drew}.` : wanted),
    own(
      ctx,
      actionBar(ctx, (action) => (action.kind === "draw" ? "Draw a card" : "Pass")),
      hand(ctx, { pick: (card) => play(ctx, card) }),
    ),
  ];
}

/**
 * @param {Page.Context} ctx
 * @param {string} card
 */
function play(ctx, card) {
  const actions = actionsOf(ctx, card);
  if (actions.length === 1) {
    ctx.act(actions[0].id);
    return;
  }
  choose(
    ctx,
    "Choose the suit to call",
    actions.map((action) => {
      const suit = action.call ?? "";
      return {
        action,
        label: suit,
        class: colourOf(suit),
        look: [h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[suit]), suit],
      };
    }),
  );
}

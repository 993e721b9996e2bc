// Uno: the colour in force and the direction of play around the pile.

import { h, s } from "/static/dom.js";
import { shortName } from "/static/cards.js";
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
  zone,
} from "/static/board/kit.js";

/**
 * @typedef {object} Extra
 * @property {string | null} colour in force
 * @property {1 | -1} direction
 * @property {number | null} next the next seat; null for two seats
 * @property {number} to_draw number of cards stacked up
 * @property {string | null} drew the card that was just drawn
 */

/** @param {string | null | undefined} colour */
const colourClass = (colour) => (colour ? `colour-${colour[0].toUpperCase()}` : "");

/** @type {Page.Order} */
export const order = "suit";

/**
 * Draw the table.
 * @param {Page.Context<Extra>} ctx
 */
export function render(ctx) {
  const description = ctx.view.description;
  const { colour, drew, to_draw: toDraw } = ctx.view.extra;
  const draw = ctx.legal.find((action) => action.kind === "draw");
  let wanted = colour ? `Your turn: play ${colour}, the same number or symbol, or a wild` : "Your turn";
  if (drew) wanted = `You drew ${shortName(drew, ctx.deck)}: play it or keep it`;
  else if (ctx.legal.length === 1 && draw) wanted = "No card fits: draw";
  if (ctx.legal.some((action) => action.kind === "start"))
    wanted = "Choose the first colour";
  return [
    opponents(ctx, (seat) =>
      zone(ctx, "hand", seat).count === 1 ? [h("span", { class: "mark shout" }, "one card!")] : [],
    ),
    h(
      "section",
      { class: `middle colour-ring ${colourClass(colour)}`, "aria-label": "Middle of the table" },
      stock(ctx, {
        action: draw,
        label: toDraw ? `Draw ${toDraw} cards, or play a draw two` : "Draw a card",
      }),
      pile(ctx),
      colour
        ? h(
            "div",
            {
              class: `in-force ${colourClass(colour)}`,
              role: "img",
              "aria-label": `colour in force: ${colour}`,
            },
            h("span", { class: "swatch", "aria-hidden": "true" }),
            h("span", { class: "place-name" }, colour),
            description.seats > 2 ? direction(ctx) : null,
          )
        : null,
    ),
    facts(ctx, ["colour", "result", "you drew", "next"]),
    prompt(ctx, wanted),
    own(
      ctx,
      actionBar(
        ctx,
        (action) => {
          if (action.kind === "draw") return toDraw ? `Draw ${toDraw}` : "Draw a card";
          return action.kind === "start" ? `Start with ${action.call}` : "Keep it";
        },
        {
          class: (action) => (action.kind === "start" ? `${colourClass(action.call)} filled` : ""),
        },
      ),
      hand(ctx, { pick: (card) => play(ctx, card) }),
    ),
  ];
}

/** @param {Page.Context<Extra>} ctx */
function direction(ctx) {
  const seat = ctx.view.extra.next ?? null;
  const backwards = ctx.view.extra.direction === -1;
  return h(
    "span",
    { class: "direction" },
    s(
      "svg",
      { viewBox: "0 0 24 24", class: backwards ? "backwards" : "", "aria-hidden": "true" },
      s("path", {
        d: "M4 12a8 8 0 0 1 13.500-5.800M20 12a8 8 0 0 1-13.500 5.800M17.900 2.500v4h-4M6.100 21.500v-4h4",
      }),
    ),
    seat === null
      ? null
      : `next: ${ctx.names[seat] === "You" ? "you" : ctx.names[seat]}`,
  );
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
    "Choose the colour to call",
    actions.map((action) => ({
      action,
      label: action.call ?? "",
      class: `${colourClass(action.call)} filled`,
      look: action.call,
    })),
  );
}

// Uno: the colour in force and the direction of play around the pile.

import { h, s } from "../dom.js";
import { cardName, colourName } from "../cards.js";
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
} from "./kit.js";

/** @type {Record<string, string>} */
const LETTERS = { red: "R", green: "G", blue: "B", yellow: "Y" };

/** @type {Page.Order} */
export const order = "suit";

/**
 * Draw the table.
 * @param {Page.Context<Wire.Uno>} ctx
 */
export function render(ctx) {
  const told = ctx.view.description;
  const colour = ctx.view.extra.colour ?? told.facts.colour;
  const letter = colour ? LETTERS[colour] : "";
  const draw = ctx.legal.find((one) => one.text === "draw");
  const drawn = told.facts["you drew"];
  let wanted = colour ? `Your turn: match ${colour} or the sign on the pile` : "Your turn";
  if (drawn) wanted = `You drew ${cardName(String(drawn))}: play it or keep it`;
  else if (ctx.legal.length === 1 && draw) wanted = "Nothing fits: draw";
  if (ctx.legal.some((one) => one.text.startsWith("start=")))
    wanted = "Name the colour to begin with";
  return [
    opponents(ctx, (seat) =>
      zone(ctx, "hand", seat).count === 1 ? [h("span", { class: "mark shout" }, "one card!")] : [],
    ),
    h(
      "section",
      { class: `middle colour-ring colour-${letter}`, "aria-label": "Middle of the table" },
      stock(ctx, {
        action: draw,
        label: told.facts["to draw"] ? `Draw ${told.facts["to draw"]}` : "Draw a card",
      }),
      pile(ctx),
      colour
        ? h(
            "div",
            {
              class: `in-force colour-${letter}`,
              role: "img",
              "aria-label": `colour in force: ${colour}`,
            },
            h("span", { class: "swatch", "aria-hidden": "true" }),
            h("span", { class: "place-name" }, colour),
            told.seats > 2 ? direction(ctx) : null,
          )
        : null,
    ),
    facts(ctx, ["colour", "result", "you drew", "next"]),
    prompt(ctx, wanted),
    own(
      ctx,
      actionBar(
        ctx,
        (one) => {
          if (one.text === "draw")
            return told.facts["to draw"]
              ? `Draw ${parseInt(told.facts["to draw"], 10)}`
              : "Draw a card";
          return one.text.startsWith("start=")
            ? `Begin with ${colourName(one.text.slice(-1))}`
            : "Keep it";
        },
        {
          class: (one) =>
            one.text.startsWith("start=") ? `colour-${one.text.slice(-1)} filled` : "",
        },
      ),
      hand(ctx, { pick: (card) => play(ctx, card) }),
    ),
  ];
}

/** @param {Page.Context<Wire.Uno>} ctx */
function direction(ctx) {
  const next = ctx.view.description.facts.next;
  const seat = next ? Number(next.slice(5)) : null;
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
      : `next ${ctx.names[seat] === "You" ? "you" : ctx.names[seat]}`,
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
    "Which colour do you call?",
    actions.map((action) => {
      const letter = action.text.slice(-1);
      return {
        action,
        label: colourName(letter),
        class: `colour-${letter} filled`,
        look: colourName(letter),
      };
    }),
  );
}

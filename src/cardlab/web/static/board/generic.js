// The page of games without their own: zones as rows of cards, actions as buttons.

import { cardName, partsOf, picture, spoken, written } from "../cards.js";
import { h } from "../dom.js";
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
  zonesOf,
} from "./kit.js";

/** @type {Page.Order} */
export const order = "suit";

/**
 * Draw the table.
 * @param {Page.Context} ctx
 */
export function render(ctx) {
  const description = ctx.view.description;
  const shown = description.zones.filter(
    (area) => !(area.name === "hand" && area.seat !== null) && !["stock", "pile"].includes(area.name),
  );
  /** @type {Set<string | null>} */
  const held = new Set(
    description.zones.find((area) => area.name === "hand" && area.seat === ctx.seat)?.cards ?? [],
  );
  const free = ctx.legal.filter((action) => !held.has(action.card));
  return [
    description.seats > 1 ? opponents(ctx) : null,
    h(
      "section",
      { class: "middle", "aria-label": "Middle of the table" },
      zonesOf(ctx, "stock").length ? stock(ctx) : null,
      zonesOf(ctx, "pile").length ? pile(ctx) : null,
      shown.map((area) =>
        h(
          "div",
          {
            class: "row-zone",
            role: "img",
            "aria-label": `${label(ctx, area)}: ${area.cards.map((card) => cardName(card, ctx.deck)).join(", ") || area.count}`,
          },
          h("span", { class: "place-name" }, label(ctx, area)),
          h(
            "span",
            { class: "mini-row" },
            area.cards.length
              ? area.cards.map((card) => picture(card, ctx.deck))
              : Array.from({ length: Math.min(area.count, 8) }, () =>
                  picture(null, ctx.deck),
                ),
          ),
        ),
      ),
      facts(ctx, ["result"]),
    ),
    prompt(ctx, "Your turn"),
    own(
      ctx,
      actionBar({ ...ctx, legal: free }, (action) => words(ctx, action), {
        every: true,
      }),
      // If no action uses a card of the hand, none of the cards is shown as unplayable.
      hand(free.length < ctx.legal.length ? ctx : { ...ctx, mine: false, refuse: null }, {
        pick: (card) => {
          const actions = actionsOf(ctx, card);
          if (actions.length === 1) ctx.act(actions[0].id);
          else
            choose(
              ctx,
              "Choose an action",
              actions.map((action) => ({
                action,
                label: spoken(partsOf(action), ctx.deck, ctx.names),
                look: words(ctx, action),
              })),
            );
        },
      }),
    ),
  ];
}

/**
 * Return the text of an action, with a capital letter.
 * @param {Page.Context} ctx
 * @param {Wire.Action} action
 */
function words(ctx, action) {
  const [first, ...rest] = partsOf(action);
  const begin = typeof first === "string" ? capital(first) : first;
  return written([begin, ...rest], ctx.deck, ctx.names);
}

/** @param {string} text */
const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
/**
 * @param {Page.Context} ctx
 * @param {Wire.Zone} area
 */
const label = (ctx, area) => (area.seat === null ? area.name : `${ctx.names[area.seat]}: ${area.name}`);

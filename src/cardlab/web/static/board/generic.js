// Any other game: zones as rows of cards, actions as buttons.

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
    (one) => !(one.name === "hand" && one.seat !== null) && !["stock", "pile"].includes(one.name),
  );
  /** @type {Set<string | null>} */
  const held = new Set(
    description.zones.find((one) => one.name === "hand" && one.seat === ctx.seat)?.cards ?? [],
  );
  const free = ctx.legal.filter((one) => !held.has(one.card));
  return [
    description.seats > 1 ? opponents(ctx) : null,
    h(
      "section",
      { class: "middle", "aria-label": "Middle of the table" },
      zonesOf(ctx, "stock").length ? stock(ctx) : null,
      zonesOf(ctx, "pile").length ? pile(ctx) : null,
      shown.map((one) =>
        h(
          "div",
          {
            class: "row-zone",
            role: "img",
            "aria-label": `${label(ctx, one)}: ${one.cards.map((card) => cardName(card, ctx.deck)).join(", ") || one.count}`,
          },
          h("span", { class: "place-name" }, label(ctx, one)),
          h(
            "span",
            { class: "mini-row" },
            one.cards.length
              ? one.cards.map((card) => picture(card, ctx.deck))
              : Array.from({ length: Math.min(one.count, 8) }, () =>
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
      actionBar({ ...ctx, legal: free }, (one) => words(ctx, one), {
        every: true,
      }),
      // Where no card of the hand can be played at all, none looks as if it were out of play.
      hand(free.length < ctx.legal.length ? ctx : { ...ctx, mine: false, refuse: null }, {
        pick: (card) => {
          const actions = actionsOf(ctx, card);
          if (actions.length === 1) ctx.act(actions[0].id);
          else
            choose(
              ctx,
              "Which one?",
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
 * Return an action in words, with a capital where it begins with text.
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
 * @param {Wire.Zone} one
 */
const label = (ctx, one) => (one.seat === null ? one.name : `${ctx.names[one.seat]}: ${one.name}`);

// Crazy Eights: stock and pile in the middle, the suit in force beside them.

import { h } from "../dom.js";
import { cardName, suitName, suitSign } from "../cards.js";
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
const LETTERS = { clubs: "C", diamonds: "D", hearts: "H", spades: "S" };

/**
 * Return `an ace`, `a six`; an eight on the pile asks for its suit only.
 * @param {string | undefined} card
 */
function rankName(card) {
  const name = card ? cardName(card).split(" ")[0] : "eight";
  return name === "eight" ? null : `${name === "ace" ? "an" : "a"} ${name}`;
}

/** @type {Page.Order} */
export const order = "suit";

/**
 * Draw the table.
 * @param {Page.Context} ctx
 */
export function render(ctx) {
  const told = ctx.view.description;
  const suit = told.facts.suit;
  const letter = suit ? LETTERS[suit] : "";
  const draw = ctx.legal.find((one) => one.text === "draw");
  const drew = told.facts["you drew"];
  const eights = ctx.legal.some((one) => one.text.includes("="));
  const rank = rankName(zone(ctx, "pile").cards[0]);
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
              class: `in-force suit-${letter}`,
              role: "img",
              "aria-label": `suit in force: ${suit}`,
            },
            h("span", { class: "sign", "aria-hidden": "true" }, suitSign(letter)),
            h("span", { class: "place-name" }, suit),
          )
        : null,
    ),
    facts(ctx, ["suit", "result", "you drew"]),
    prompt(ctx, drew ? `${wanted}. You drew ${drew}.` : wanted),
    own(
      ctx,
      actionBar(ctx, (one) => (one.text === "draw" ? "Draw a card" : "Pass")),
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
    "Which suit do you call?",
    actions.map((action) => {
      const letter = action.text.slice(-1);
      return {
        action,
        label: suitName(letter),
        class: `suit-${letter}`,
        look: [
          h("span", { class: "sign", "aria-hidden": "true" }, suitSign(letter)),
          suitName(letter),
        ],
      };
    }),
  );
}

// Cribbage: board with pegs, discard of two cards, the count, the show point by point.

import { cardName, cardWord, picture } from "/static/cards.js";
import { button, count, h } from "/static/dom.js";
import { actionsOf, hand, hintBar, opponents, plate, prompt, zone } from "/static/board/kit.js";
import { cribbageBoard } from "./board.js";

/**
 * @typedef {object} Counted a hand or a crib with its points
 * @property {number} seat
 * @property {string} what
 * @property {string[]} cards
 * @property {string} starter
 * @property {{ what: string, cards: string[], points: number }[]} parts
 * @property {number} total
 */
/**
 * @typedef {object} Extra
 * @property {import("./board.js").Pegs[]} board
 * @property {number} target
 * @property {number | null} dealer
 * @property {"cut" | "deal" | "discard" | "play" | "over"} phase
 * @property {number | null} count
 * @property {string[]} played the cards of this deal in the order of play
 * @property {Counted[]} show
 */

/** @type {Page.Order} */
export const order = "rank";

/** @type {Set<string>} */
let laid = new Set(); // keys of the cards selected for the crib
let laidAt = -1;

/**
 * Draw the table.
 * @param {Page.Context<Extra>} ctx
 */
export function render(ctx) {
  const extra = ctx.view.extra;
  const lays = ctx.legal.filter((action) => action.kind === "lay");
  if (laidAt !== ctx.view.version) {
    laid = new Set();
    laidAt = ctx.view.version;
  }
  const target = extra.target ?? 121;
  const dealer = extra.dealer ?? null;
  const laying = extra.phase === "discard";
  const shown = laying || ctx.view.over ? (extra.show ?? []) : [];
  const whose = dealer === null ? "the dealer" : ctx.names[dealer];
  const crib = dealer === ctx.seat ? "your own crib" : `${possessive(whose)} crib`;
  const wanted = lays.length
    ? `Choose two cards to discard to ${crib}`
    : "Your turn: play a card; the count must not exceed 31";
  const bar = lays.length && ctx.mine ? layBar(ctx, lays) : null;
  return [
    h(
      "div",
      { class: "crib-top" },
      opponents(ctx, (seat) => marks(extra, dealer, seat)),
      extra.board ? cribbageBoard(extra.board, target, ctx.names) : null,
    ),
    shown.length
      ? show(ctx, shown)
      : h(
          "section",
          { class: "middle crib", "aria-label": "Middle of the table" },
          starter(ctx),
          h("div", { class: "played-cards" }, playedRow(ctx)),
          laying
            ? null
            : h(
                "div",
                { class: "count", role: "img", "aria-label": `count ${extra.count ?? 0}` },
                h("strong", {}, String(extra.count ?? 0)),
                h("span", {}, "count"),
              ),
          cribPile(ctx, dealer),
        ),
    prompt(ctx, wanted),
    h(
      "section",
      {
        class: "own-side",
        "aria-label": ctx.watch ? `Side of ${ctx.names[ctx.seat]}` : "Your side",
      },
      bar,
      hand(
        ctx,
        lays.length
          ? {
              usable: () => true,
              lifted: () => false,
              chosen: laid,
              note: () => "",
              pick: (_card, element, key) => toggle(ctx, lays, key, element),
              actions: (card) => lays.filter((action) => cardsOf(action).includes(card)),
            }
          : { pick: (card) => ctx.act(actionsOf(ctx, card)[0].id) },
      ),
      plate(ctx, ctx.seat, ...marks(extra, dealer, ctx.seat)),
    ),
  ];
}

/**
 * @param {Partial<Extra>} extra
 * @param {number | null} dealer
 * @param {number} seat
 */
function marks(extra, dealer, seat) {
  const peg = (extra.board ?? []).find((pegs) => pegs.seat === seat);
  return [
    peg
      ? h(
          "span",
          { class: `chip peg-${seat}`, title: "score" },
          h("strong", {}, String(peg.front)),
        )
      : null,
    dealer === seat ? h("span", { class: "mark" }, "dealer") : null,
  ];
}

/** @param {string} name */
const possessive = (name) => (name === "You" ? "your" : `${name}’s`);

/** @param {string} text */
const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** @param {Wire.Action} action */
const cardsOf = (action) => action.cards ?? [];

/**
 * @param {Page.Context<Extra>} ctx
 * @param {Wire.Action[]} lays
 * @param {string} key
 * @param {HTMLElement} element
 */
function toggle(ctx, lays, key, element) {
  if (laid.has(key)) laid.delete(key);
  else if (laid.size < 2) laid.add(key);
  else {
    laid.delete([...laid][0]);
    laid.add(key);
  }
  /** @type {NodeListOf<HTMLElement> | undefined} */
  const held = element.closest(".hand")?.querySelectorAll(".hold");
  for (const card of held ?? []) {
    const on = laid.has((card.dataset.key ?? "").slice("hand:".length));
    card.classList.toggle("chosen", on);
    card.setAttribute("aria-pressed", String(on));
  }
  const bar = document.querySelector(".lay-bar");
  if (bar) bar.replaceWith(layBar(ctx, lays));
}

/**
 * @param {Page.Context<Extra>} ctx
 * @param {Wire.Action[]} lays
 */
function layBar(ctx, lays) {
  const cards = [...laid].map((key) => key.split("#")[0]);
  const action =
    cards.length === 2
      ? lays.find((pair) => cardsOf(pair).every((card) => cards.includes(card)))
      : null;
  return h(
    "div",
    { class: "action-bar lay-bar" },
    button(
      action
        ? ["Discard ", cards.map((card) => [" ", cardWord(card, ctx.deck)]), hintBar(ctx, [action])]
        : `Discard (${cards.length} of 2)`,
      () => action && ctx.act(action.id),
      {
        class: `button big ${action ? "primary" : ""}`,
        "aria-disabled": action ? null : "true",
        data: { key: "lay" },
      },
    ),
  );
}

/** @param {Page.Context<Extra>} ctx */
function starter(ctx) {
  const cut = zone(ctx, "cut");
  const card = cut.cards[0];
  const image = picture(card ?? null, ctx.deck);
  if (card) image.dataset.move = "";
  return h(
    "div",
    {
      class: "place",
      data: { stock: ctx.deck },
      role: "img",
      "aria-label": card ? `starter card: ${cardName(card, ctx.deck)}` : "pack",
    },
    h("span", { class: "pack", vars: { "--depth": 3 } }, image),
    h("span", { class: "place-name" }, card ? "starter" : "pack"),
  );
}

/**
 * Return the crib: backs, and the cards that the person has discarded.
 * @param {Page.Context<Extra>} ctx
 * @param {number | null} dealer
 */
function cribPile(ctx, dealer) {
  const discards = ctx.view.description.zones.filter((area) => area.name === "discards");
  /** @type {(string | null)[]} */
  const cards = discards.flatMap((area) =>
    area.cards.length ? area.cards : Array.from({ length: area.count }, () => null),
  );
  if (!cards.length || dealer === null) return null;
  const name = `${possessive(ctx.names[dealer])} crib`;
  const known = cards.flatMap((card) => (card === null ? [] : cardName(card, ctx.deck)));
  return h(
    "div",
    {
      class: "place",
      role: "img",
      "aria-label": known.length ? `${name}, with ${known.join(", ")}` : name,
    },
    h(
      "span",
      { class: "crib-cards" },
      cards.map((card) => picture(card, ctx.deck, { class: "mini" })),
    ),
    h("span", { class: "place-name" }, name),
  );
}

/** @param {Page.Context<Extra>} ctx */
function playedRow(ctx) {
  const live = new Set(zone(ctx, "pile").cards);
  const seats = [...Array(ctx.view.description.seats).keys()].sort((a) =>
    a === ctx.seat ? 1 : -1,
  );
  return seats.map((seat) => {
    const cards = inOrder(ctx, seat);
    return h(
      "div",
      {
        class: "played-row",
        role: "img",
        "aria-label": cards.length
          ? `${ctx.names[seat]} played ${cards.map((card) => cardName(card, ctx.deck)).join(", ")}`
          : `${ctx.names[seat]} has played nothing`,
      },
      cards.map((card) => {
        const image = picture(card, ctx.deck, {
          class: live.has(card) || ctx.view.over ? "" : "turned-down",
        });
        image.dataset.move = "";
        return image;
      }),
    );
  });
}

/**
 * Return a seat's played cards in the order of play.
 * @param {Page.Context<Extra>} ctx
 * @param {number} seat
 */
function inOrder(ctx, seat) {
  const played = ctx.view.extra.played ?? [];
  const cards = zone(ctx, "cards played", seat).cards;
  return [...cards].sort((a, b) => played.indexOf(a) - played.indexOf(b));
}

/**
 * @param {Page.Context<Extra>} ctx
 * @param {Counted[]} hands
 */
function show(ctx, hands) {
  return h(
    "details",
    { class: "show", open: !ctx.narrow || Boolean(ctx.view.over) },
    h(
      "summary",
      {},
      "The show",
      h(
        "span",
        { class: "show-totals" },
        hands.map((counted) =>
          h(
            "span",
            { class: `chip peg-${counted.seat}` },
            `${capital(possessive(ctx.names[counted.seat]))} ${counted.what} `,
            h("strong", {}, String(counted.total)),
          ),
        ),
      ),
    ),
    h(
      "div",
      { class: "show-hands" },
      hands.map((counted) =>
        h(
          "article",
          { class: "show-hand" },
          h(
            "h3",
            {},
            capital(`${possessive(ctx.names[counted.seat])} ${counted.what}`),
            h("span", { class: `chip peg-${counted.seat}` }, count(counted.total, "point")),
          ),
          h(
            "div",
            {
              class: "mini-row",
              role: "img",
              "aria-label": `${counted.cards.map((card) => cardName(card, ctx.deck)).join(", ")}, starter ${cardName(counted.starter, ctx.deck)}`,
            },
            counted.cards.map((card) => picture(card, ctx.deck, { class: "mini" })),
            picture(counted.starter, ctx.deck, { class: "mini starter" }),
          ),
          counted.parts.length
            ? h(
                "ul",
                {},
                counted.parts.map((part) =>
                  h(
                    "li",
                    {},
                    h("span", {}, part.what),
                    " ",
                    part.cards.map((card) => [cardWord(card, ctx.deck), " "]),
                    h("span", {}, "for "),
                    h("strong", {}, `${part.points}`),
                  ),
                ),
              )
            : h("p", {}, "no points"),
        ),
      ),
    ),
  );
}

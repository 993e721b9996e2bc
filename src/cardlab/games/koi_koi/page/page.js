// Koi-Koi: the field in the middle, captured cards by category and yaku on both sides.

import { cardFacts, cardName, picture, shortName, written } from "/static/cards.js";
import { ask, count, h } from "/static/dom.js";
import {
  actionBar,
  actionsOf,
  backs,
  hand,
  hintBar,
  others,
  plate,
  prompt,
  rove,
  stock,
  zone,
} from "/static/board/kit.js";

const CATEGORIES = ["lights", "seeds", "ribbons", "dross"];

/**
 * @typedef {object} Yaku
 * @property {number} seat
 * @property {string} name
 * @property {number} points 0: not yet made
 * @property {string[]} have
 * @property {number} full how many cards it needs
 * @property {number} need
 */
/**
 * @typedef {object} Extra
 * @property {Yaku[]} yaku
 * @property {number[]} points
 * @property {number[]} worth
 * @property {number | null} dealer
 */

/** @param {Wire.Action} action */
const isPlay = (action) => action.kind === "play";

/**
 * Return the month of a card.
 * @param {Page.Context<Extra>} ctx
 * @param {string | undefined} card
 */
const month = (ctx, card) => cardFacts(card ?? "", ctx.deck)?.rank;

/** @type {Page.Order} */
export const order = "month";

/** @type {string | null} */
let asked = null; // the position for which the dialog has been shown

/**
 * Draw the table.
 * @param {Page.Context<Extra>} ctx
 */
export function render(ctx) {
  const description = ctx.view.description;
  const called = description.parts["koi-koi"];
  const picks = ctx.legal.filter((action) => action.kind === "take");
  const calls = ctx.legal.filter((action) => action.kind === "stop" || action.kind === "koi-koi");
  const pending = description.zones.find((area) => area.name === "discarded" || area.name === "drawn");
  const other = others(ctx)[0];
  const field = fieldOf(ctx, picks);
  if (calls.length && ctx.mine) question(ctx, calls);
  let wanted = "Your turn: play a card; it captures field cards of its month";
  if (picks.length)
    wanted = `Choose the card that ${shortName(pending?.cards[0] ?? "", ctx.deck)} captures`;
  if (calls.length) wanted = "Stop, or koi-koi?";
  return [
    h(
      "section",
      { class: "opponents of-1", "aria-label": "Other seat" },
      h(
        "div",
        { class: "opponent wide" },
        h(
          "div",
          { class: "opponent-head" },
          plate(ctx, other, score(ctx, other)),
          backs(ctx, other),
        ),
        captured(ctx, other),
      ),
    ),
    h(
      "section",
      { class: "middle koi", "aria-label": "Field" },
      h(
        "div",
        { class: "koi-side" },
        h(
          "div",
          { class: "koi-stock" },
          stock(ctx),
          h(
            "p",
            { class: "round-line" },
            roundWords(ctx),
            called ? h("strong", {}, "koi-koi: ", written(called, ctx.deck, ctx.names)) : null,
          ),
        ),
        pending
          ? h(
              "div",
              {
                class: "place",
                role: "img",
                "aria-label": `${pending.name}: ${cardName(pending.cards[0], ctx.deck)}`,
              },
              moving(pending.cards[0], ctx.deck),
              h("span", { class: "place-name" }, pending.name),
            )
          : null,
      ),
      field,
    ),
    prompt(ctx, wanted),
    h(
      "section",
      {
        class: "own-side",
        "aria-label": ctx.watch ? `Side of ${ctx.names[ctx.seat]}` : "Your side",
      },
      actionBar(
        { ...ctx, legal: calls },
        (action) => (action.kind === "stop" ? stopWords(ctx) : "Koi-koi!"),
        {
          class: (action) => (action.kind === "stop" ? "" : "shout"),
        },
      ),
      hand(ctx, {
        usable: (card) =>
          actionsOf(ctx, card).some(isPlay),
        lifted: (card) => !picks.length && !calls.length && matches(ctx, card).length > 0,
        note: (card) => {
          const taken = matches(ctx, card);
          return taken.length
            ? `, matches ${taken.map((match) => cardName(match, ctx.deck)).join(" and ")}`
            : ", matches nothing";
        },
        pick: (card) => {
          const action = actionsOf(ctx, card).find(isPlay);
          if (action) ctx.act(action.id);
        },
        look: (card) => glow(ctx, field, card),
      }),
      h(
        "div",
        { class: "own-foot" },
        plate(ctx, ctx.seat, score(ctx, ctx.seat)),
        captured(ctx, ctx.seat),
      ),
    ),
  ];
}

/**
 * @param {Page.Context<Extra>} ctx
 * @param {string} card
 */
const matches = (ctx, card) => zone(ctx, "field").cards.filter((other) => month(ctx, other) === month(ctx, card));

/**
 * @param {string} card
 * @param {string} deck
 */
function moving(card, deck) {
  const image = picture(card, deck);
  image.dataset.move = "";
  return image;
}

/** @param {Page.Context} ctx */
function roundWords(ctx) {
  const round = String(ctx.view.description.facts.round ?? "");
  return round ? h("span", {}, `Round ${round}`) : null;
}

/** @param {Page.Context<Extra>} ctx */
function stopWords(ctx) {
  const worth = ctx.view.extra.worth?.[ctx.seat];
  return worth ? `Stop and win ${count(worth, "point")}` : "Stop";
}

/**
 * @param {Page.Context<Extra>} ctx
 * @param {number} seat
 */
function score(ctx, seat) {
  const points = ctx.view.extra.points?.[seat];
  const dealer = ctx.view.extra.dealer === seat;
  return [
    points === undefined ? null : h("span", { class: "points" }, `${points} points`),
    dealer ? h("span", { class: "mark", title: "dealer" }, "dealer") : null,
  ];
}

/**
 * @param {Page.Context<Extra>} ctx
 * @param {Wire.Action[]} picks
 */
function fieldOf(ctx, picks) {
  const cards = zone(ctx, "field").cards;
  const element = h("div", {
    class: "field",
    role: picks.length && ctx.mine ? "toolbar" : "group",
    "aria-label": "Field cards",
  });
  for (const card of cards) {
    const pick = picks.find((action) => action.card === card);
    if (pick && ctx.mine) {
      element.append(
        h(
          "button",
          {
            type: "button",
            class: "lies can",
            data: { lies: card, key: `field:${card}` },
            "aria-label": `capture ${cardName(card, ctx.deck)}`,
            title: cardName(card, ctx.deck),
            on: { click: () => ctx.act(pick.id) },
          },
          moving(card, ctx.deck),
          hintBar(ctx, [pick]),
        ),
      );
    } else {
      element.append(
        h(
          "span",
          {
            class: `lies ${picks.length && ctx.mine ? "dim" : ""}`,
            role: "img",
            "aria-label": cardName(card, ctx.deck),
            title: cardName(card, ctx.deck),
            data: { lies: card },
          },
          moving(card, ctx.deck),
        ),
      );
    }
  }
  if (picks.length && ctx.mine) rove(element, "button");
  return element;
}

/**
 * @param {Page.Context<Extra>} ctx
 * @param {HTMLElement} field
 * @param {string | null} card
 */
function glow(ctx, field, card) {
  field.classList.toggle("looking", card !== null);
  /** @type {NodeListOf<HTMLElement>} */
  const lying = field.querySelectorAll(".lies");
  for (const shown of lying) {
    shown.classList.toggle("match", card !== null && month(ctx, shown.dataset.lies) === month(ctx, card));
  }
}

/**
 * @param {Page.Context<Extra>} ctx
 * @param {number} seat
 */
function captured(ctx, seat) {
  const piles = CATEGORIES.map((name) => ({ name, cards: zone(ctx, name, seat).cards }));
  return h(
    "div",
    { class: "captured" },
    h(
      "div",
      { class: "heaps", role: "group", "aria-label": `Captured by ${ctx.names[seat]}` },
      piles.map(({ name, cards }) =>
        h(
          "div",
          {
            class: `heap ${cards.length ? "" : "none"}`,
            role: "img",
            "aria-label": `${name}: ${cards.length ? cards.map((card) => cardName(card, ctx.deck)).join("; ") : "none"}`,
          },
          h("span", { class: "heap-name" }, `${name} ${cards.length || ""}`),
          h(
            "span",
            { class: "heap-cards", vars: { "--n": Math.max(1, cards.length) } },
            cards.map((card, place) => {
              const image = moving(card, ctx.deck);
              image.style.setProperty("--i", String(place));
              return image;
            }),
          ),
        ),
      ),
    ),
    yaku(ctx, seat),
  );
}

/**
 * @param {Page.Context<Extra>} ctx
 * @param {number} seat
 */
function yaku(ctx, seat) {
  const rows = (ctx.view.extra.yaku ?? []).filter((entry) => entry.seat === seat);
  // Completed ones first, then those that need the fewest cards.
  const near = rows
    .filter((entry) => entry.points || entry.have.length > 1 || entry.need === 1)
    .sort((a, b) => b.points - a.points || a.need - b.need)
    .slice(0, 4);
  if (!near.length) return null;
  return h(
    "ul",
    { class: "yaku", "aria-label": `Yaku of ${ctx.names[seat]}` },
    near.map((entry) =>
      h(
        "li",
        { class: entry.points ? "made" : "", title: entry.have.map((card) => cardName(card, ctx.deck)).join("; ") },
        h("span", { class: "yaku-name" }, entry.name),
        entry.points
          ? h("span", { class: "yaku-points" }, count(entry.points, "point"))
          : h("span", { class: "yaku-points" }, `${entry.have.length}/${entry.full}`),
        h(
          "span",
          {
            class: "progress",
            "aria-hidden": "true",
            vars: { "--share": entry.points ? 1 : Math.min(1, entry.have.length / entry.full) },
          },
          h("span", {}),
        ),
      ),
    ),
  );
}

/**
 * @param {Page.Context<Extra>} ctx
 * @param {Wire.Action[]} calls
 */
async function question(ctx, calls) {
  const key = `${ctx.view.table.id}:${ctx.view.version}`;
  if (asked === key) return;
  asked = key;
  const made = (ctx.view.extra.yaku ?? []).filter((entry) => entry.seat === ctx.seat && entry.points);
  const body = [
    h("p", {}, "You have"),
    h(
      "ul",
      { class: "made-list" },
      made.map((entry) =>
        h(
          "li",
          {},
          h("strong", {}, `${entry.name}, ${count(entry.points, "point")}`),
          h(
            "span",
            { class: "mini-row" },
            entry.have.map((card) => picture(card, ctx.deck, { class: "mini" })),
          ),
        ),
      ),
    ),
    h("p", {}, "Stop and score the points, or call koi-koi and play on for more?"),
  ];
  const answer = await ask(
    "Koi-koi?",
    body,
    calls.map((action) => ({
      text: action.kind === "stop" ? stopWords(ctx) : "Koi-koi!",
      class: action.kind === "stop" ? "primary" : "shout",
      value: action.id,
      first: action.kind === "stop",
      data: { action: action.id },
    })),
    { class: "koi-dialog", made: (close) => ctx.onStale(() => close(null)) },
  );
  if (answer !== null) ctx.act(answer);
}

// Koi-Koi: the field in the middle, captured cards by category and yaku on both sides.

import { cardName, month, picture } from "../cards.js";
import { ask, count, h } from "../dom.js";
import {
  actionBar,
  backs,
  hand,
  hintBar,
  others,
  plate,
  prompt,
  rove,
  stock,
  zone,
} from "./kit.js";

const CATEGORIES = ["lights", "seeds", "ribbons", "dross"];
/** @type {Record<string, number>} */
const FULL = {
  "five lights": 5,
  "four lights": 4,
  "rainy four lights": 4,
  "three lights": 3,
  "boar-deer-butterfly": 3,
  "flower sake": 2,
  "moon sake": 2,
  "red ribbons": 3,
  "blue ribbons": 3,
  seeds: 5,
  ribbons: 5,
  dross: 10,
};

/** @type {Page.Order} */
export const order = "month";

/** @type {string | null} */
let asked = null; // the question that the dialog has put already

/**
 * Draw the table.
 * @param {Page.Context<Wire.KoiKoi>} ctx
 */
export function render(ctx) {
  const told = ctx.view.description;
  const picks = ctx.legal.filter((one) => one.text.startsWith("take "));
  const calls = ctx.legal.filter((one) => one.text === "stop" || one.text === "koi-koi");
  const pending = told.zones.find((one) => one.name === "discarded" || one.name === "drawn");
  const other = others(ctx)[0];
  const field = fieldOf(ctx, picks);
  if (calls.length && ctx.mine) question(ctx, calls);
  let wanted = "Your turn: play a card; it takes field cards of its month";
  if (picks.length)
    wanted = `Which card does ${cardName(pending?.cards[0] ?? "").replaceAll(",", "")} take?`;
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
            told.facts["koi-koi"]
              ? h("strong", {}, `koi-koi: ${names(ctx, told.facts["koi-koi"])}`)
              : null,
          ),
        ),
        pending
          ? h(
              "div",
              {
                class: "place",
                role: "img",
                "aria-label": `${pending.name}: ${cardName(pending.cards[0])}`,
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
        (one) => (one.text === "stop" ? stopWords(ctx) : "Koi-koi!"),
        {
          class: (one) => (one.text === "stop" ? "" : "shout"),
        },
      ),
      hand(ctx, {
        usable: (card) =>
          !picks.length && !calls.length && ctx.legal.some((one) => one.text === card),
        lifted: (card) => !picks.length && !calls.length && matches(ctx, card).length > 0,
        note: (card) => {
          const taken = matches(ctx, card);
          return taken.length
            ? `, matches ${taken.map((one) => cardName(one)).join(" and ")}`
            : ", matches nothing";
        },
        pick: (card) => {
          const action = ctx.legal.find((one) => one.text === card);
          if (action) ctx.act(action.id);
        },
        look: (card) => glow(field, card),
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
 * @param {Page.Context} ctx
 * @param {string} card
 */
const matches = (ctx, card) => zone(ctx, "field").cards.filter((one) => month(one) === month(card));

/**
 * @param {Page.Context} ctx
 * @param {string} text
 */
const names = (ctx, text) => text.replace(/seat (\d)/g, (_, seat) => ctx.names[Number(seat)]);

/**
 * @param {string} card
 * @param {Wire.Deck} deck
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

/** @param {Page.Context<Wire.KoiKoi>} ctx */
function stopWords(ctx) {
  const worth = ctx.view.extra.worth?.[ctx.seat];
  return worth ? `Stop and win ${count(worth, "point")}` : "Stop";
}

/**
 * @param {Page.Context<Wire.KoiKoi>} ctx
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
 * @param {Page.Context} ctx
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
    const pick = picks.find((one) => one.card === card);
    if (pick && ctx.mine) {
      element.append(
        h(
          "button",
          {
            type: "button",
            class: "lies can",
            data: { lies: card, key: `field:${card}` },
            "aria-label": `take ${cardName(card)}`,
            title: cardName(card),
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
            "aria-label": cardName(card),
            title: cardName(card),
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
 * @param {HTMLElement} field
 * @param {string | null} card
 */
function glow(field, card) {
  field.classList.toggle("looking", card !== null);
  /** @type {NodeListOf<HTMLElement>} */
  const lying = field.querySelectorAll(".lies");
  for (const one of lying) {
    one.classList.toggle("match", card !== null && month(one.dataset.lies ?? "") === month(card));
  }
}

/**
 * @param {Page.Context<Wire.KoiKoi>} ctx
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
            "aria-label": `${name}: ${cards.length ? cards.map((card) => cardName(card)).join("; ") : "none"}`,
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
 * @param {Page.Context<Wire.KoiKoi>} ctx
 * @param {number} seat
 */
function yaku(ctx, seat) {
  const rows = (ctx.view.extra.yaku ?? []).filter((one) => one.seat === seat);
  // The nearest first; of several light yaku the one that is nearest says enough.
  const near = rows
    .map((one) => ({ ...one, full: FULL[one.name] ?? one.have.length + one.need }))
    .filter((one) => one.points || one.have.length > 1 || one.need === 1)
    .sort((a, b) => b.points - a.points || a.need - b.need)
    .slice(0, 4);
  if (!near.length) return null;
  return h(
    "ul",
    { class: "yaku", "aria-label": `Yaku of ${ctx.names[seat]}` },
    near.map((one) =>
      h(
        "li",
        { class: one.points ? "made" : "", title: one.have.map((card) => cardName(card)).join("; ") },
        h("span", { class: "yaku-name" }, one.name),
        one.points
          ? h("span", { class: "yaku-points" }, count(one.points, "point"))
          : h("span", { class: "yaku-points" }, `${one.have.length}/${one.full}`),
        h(
          "span",
          {
            class: "progress",
            "aria-hidden": "true",
            vars: { "--share": one.points ? 1 : Math.min(1, one.have.length / one.full) },
          },
          h("span", {}),
        ),
      ),
    ),
  );
}

/**
 * @param {Page.Context<Wire.KoiKoi>} ctx
 * @param {Wire.Action[]} calls
 */
async function question(ctx, calls) {
  const key = `${ctx.view.table.id}:${ctx.view.version}`;
  if (asked === key) return;
  asked = key;
  const made = (ctx.view.extra.yaku ?? []).filter((one) => one.seat === ctx.seat && one.points);
  const body = [
    h("p", {}, "You have"),
    h(
      "ul",
      { class: "made-list" },
      made.map((one) =>
        h(
          "li",
          {},
          h("strong", {}, `${one.name}, ${count(one.points, "point")}`),
          h(
            "span",
            { class: "mini-row" },
            one.have.map((card) => picture(card, ctx.deck, { class: "mini" })),
          ),
        ),
      ),
    ),
    h("p", {}, "Stop and take the points, or call koi-koi and play on for more?"),
  ];
  const answer = await ask(
    "Koi-koi?",
    body,
    calls.map((action) => ({
      text: action.text === "stop" ? stopWords(ctx) : "Koi-koi!",
      class: action.text === "stop" ? "primary" : "shout",
      value: action.id,
      first: action.text === "stop",
      data: { action: action.id },
    })),
    { class: "koi-dialog", made: (close) => ctx.onStale(() => close(null)) },
  );
  if (answer !== null) ctx.act(answer);
}

// Parts that all tables share: name plates, hands, piles, prompts, dialogs.

import { cardName, picture, sorted, written } from "../cards.js";
import { ask, button, count, h } from "../dom.js";

const NARROWEST_STEP = 27; // pixels between two cards in a hand, so that their corners stay readable

/**
 * Return the zones with a name, of a seat or of the table (null).
 * @param {Page.Context} ctx
 * @param {string} name
 * @param {number | null} seat
 */
export const zonesOf = (ctx, name, seat = null) =>
  ctx.view.description.zones.filter((found) => found.name === name && found.seat === seat);

/**
 * Return the first such zone or an empty one.
 * @param {Page.Context} ctx
 * @param {string} name
 * @param {number | null} seat
 * @returns {Wire.Zone}
 */
export const zone = (ctx, name, seat = null) =>
  zonesOf(ctx, name, seat)[0] ?? { name, seat, count: 0, cards: [] };

/**
 * Return the seats around the table, starting left of the person.
 * @param {Page.Context} ctx
 */
export function others(ctx) {
  const total = ctx.view.description.seats;
  const first = ctx.seat;
  return Array.from({ length: total - 1 }, (_, k) => (first + k + 1) % total);
}

/**
 * Return the legal actions that use a card.
 * @param {Page.Context} ctx
 * @param {string} card
 */
export const actionsOf = (ctx, card) => ctx.legal.filter((action) => action.card === card);

/**
 * Return a seat's name plate: name, marks, and its last move.
 * @param {Page.Context} ctx
 * @param {number} seat
 * @param {Page.Child[]} more
 */
export function plate(ctx, seat, ...more) {
  const who = ctx.view.seats[seat];
  const turn = ctx.view.description.to_move === seat && !ctx.view.over;
  const news = ctx.news?.get(seat);
  const marks = [];
  if (who.open_cards) marks.push(h("span", { class: "mark warn" }, "sees all cards"));
  if (who.kind === "open") marks.push(h("span", { class: "mark" }, "free seat"));
  else if (who.kind === "person" && !who.connected && seat !== ctx.seat) {
    marks.push(h("span", { class: "mark" }, "away"));
  }
  return h(
    "div",
    {
      class: `plate ${turn ? "turn" : ""} ${seat === ctx.seat ? "own" : ""}`,
      data: { plate: seat },
    },
    h("span", { class: `face face-${seat % 6}`, "aria-hidden": "true" }, initial(ctx.names[seat])),
    h("span", { class: "name" }, ctx.names[seat]),
    marks,
    more,
    news && seat !== ctx.seat
      ? h("span", { class: "bubble" }, written(news.parts, ctx.deck, ctx.names))
      : null,
  );
}

/** @param {string} name */
const initial = (name) => (name === "You" ? "☺" : name.slice(0, 1).toUpperCase());

/**
 * Return the cards of another seat: backs, or faces if they are known.
 * @param {Page.Context} ctx
 * @param {number} seat
 */
export function backs(ctx, seat) {
  const [held] = zonesOf(ctx, "hand", seat);
  if (!held) return null; // the game does not describe this hand
  const known = held.cards.length > 0;
  const cards = sorted(held.cards, ctx.deck, ctx.order);
  const shown = known ? cards : Array.from({ length: Math.min(held.count, 14) }, () => null);
  return h(
    "div",
    {
      class: `backs ${known ? "known" : ""}`,
      data: { backs: seat },
      vars: { "--n": Math.max(1, shown.length) },
      role: "img",
      "aria-label": known
        ? `${ctx.names[seat]}: ${cards.map((card) => cardName(card, ctx.deck)).join(", ")}`
        : `${ctx.names[seat]} holds ${count(held.count, "card")}`,
    },
    shown.map((card, place) => {
      const image = picture(card, ctx.deck);
      image.style.setProperty("--i", String(place));
      if (card !== null) image.dataset.move = "";
      return image;
    }),
    held.count
      ? h("span", { class: "tally", "aria-hidden": "true" }, String(held.count))
      : h("span", { class: "none-left", "aria-hidden": "true" }, "no cards"),
  );
}

/**
 * Return the row of all other seats with their cards.
 * @param {Page.Context} ctx
 * @param {(seat: number) => Page.Child[]} more
 */
export function opponents(ctx, more = () => []) {
  const seats = others(ctx);
  return h(
    "section",
    { class: `opponents of-${Math.min(seats.length, 9)}`, "aria-label": "Other seats" },
    seats.map((seat) =>
      h("div", { class: "opponent" }, plate(ctx, seat, ...more(seat)), backs(ctx, seat)),
    ),
  );
}

/**
 * Return the bar of a hint for some actions: the longer, the better the action.
 * @param {Page.Context} ctx
 * @param {Wire.Action[]} actions
 */
export function hintBar({ hint }, actions) {
  if (!hint || !actions.length) return null;
  const isBest = actions.some((action) => action.id === hint.best);
  const values = actions.flatMap((action) => hint.byId.get(action.id) ?? []);
  if (!values.length && isBest) values.push(hint.high);
  if (!values.length) return null;
  const best = Math.max(...values);
  const share = hint.high > hint.low ? (best - hint.low) / (hint.high - hint.low) : 1;
  return h(
    "span",
    {
      class: `hint-bar ${isBest ? "best" : ""}`,
      vars: { "--share": share.toFixed(3) },
      "aria-hidden": "true",
    },
    h("span", {}),
  );
}

/**
 * Return the person's hand as a fan of buttons.
 * @param {Page.Context} ctx
 * @param {Page.HandGiven} given
 */
export function hand(ctx, given) {
  const inHand = zone(ctx, "hand", ctx.seat).cards;
  if (ctx.watch && !inHand.length) return h("div", { class: "hand watched" }, backs(ctx, ctx.seat));
  const cards = sorted(inHand, ctx.deck, ctx.order);
  const copies = new Map();
  const held = cards.map((card) => {
    const copy = copies.get(card) ?? 0;
    copies.set(card, copy + 1);
    return { card, key: `${card}#${copy}` };
  });
  const step = ctx.narrow ? NARROWEST_STEP : NARROWEST_STEP + 7;
  const most = Math.max(4, Math.floor((ctx.width - ctx.cardWidth - 16) / step) + 1);
  const rows = Math.max(1, Math.ceil(held.length / most));
  const each = Math.ceil(held.length / rows);
  const fans = Array.from({ length: rows }, (_, row) => held.slice(row * each, (row + 1) * each));
  const usable = given.usable ?? ((/** @type {string} */ card) => actionsOf(ctx, card).length > 0);
  const lifted = given.lifted ?? usable;
  const element = h(
    "div",
    {
      class: `hand ${ctx.mine ? "active" : ""}`,
      role: "toolbar",
      "aria-label": `${ctx.watch ? `Hand of ${ctx.names[ctx.seat]}` : "Your hand"}, ${count(cards.length, "card")}`,
    },
    fans.map((fan) =>
      h(
        "div",
        { class: "fan", vars: { "--n": fan.length } },
        fan.map(({ card, key }, place) => {
          const can = ctx.mine && usable(card);
          const up = ctx.mine && lifted(card);
          const chosen = given.chosen?.has(key) ?? false;
          const image = picture(card, ctx.deck);
          image.dataset.move = "";
          return h(
            "button",
            {
              type: "button",
              class: `hold ${can ? "can" : ""} ${up ? "up" : ""} ${chosen ? "chosen" : ""}`,
              "aria-disabled": can ? null : "true",
              "aria-pressed": given.chosen ? String(chosen) : null,
              "aria-label": cardName(card, ctx.deck) + (given.note?.(card) ?? (can ? ", playable" : "")),
              title: cardName(card, ctx.deck),
              data: { key: `hand:${key}`, held: card },
              vars: {
                "--off": place - (fan.length - 1) / 2,
                "--u": fan.length > 1 ? ((2 * place) / (fan.length - 1) - 1).toFixed(3) : 0,
              },
              on: {
                click: (event) => {
                  if (can) given.pick(card, event.currentTarget, key);
                  else ctx.refuse?.(card);
                },
                pointerenter: () => given.look?.(card),
                pointerleave: () => given.look?.(null),
                focus: () => given.look?.(card),
                blur: () => given.look?.(null),
              },
            },
            image,
            can || ctx.watch
              ? hintBar(ctx, given.actions?.(card) ?? actionsOf(ctx, card))
              : null,
          );
        }),
      ),
    ),
  );
  rove(element, ".hold");
  return element;
}

/**
 * Let the arrow keys move between buttons, only one of which the Tab key reaches.
 * @param {HTMLElement} element
 * @param {string} selector
 * @param {number} columns
 */
export function rove(element, selector, columns = 0) {
  const all = () => {
    /** @type {NodeListOf<HTMLElement>} */
    const found = element.querySelectorAll(selector);
    return [...found];
  };
  const buttonOf = (/** @type {Event} */ event) =>
    event.target instanceof Element ? event.target.closest(selector) : null;
  const first = all().find((item) => item.getAttribute("aria-disabled") !== "true") ?? all()[0];
  for (const item of all()) item.tabIndex = item === first ? 0 : -1;
  element.addEventListener("focusin", (event) => {
    const target = buttonOf(event);
    if (target) for (const item of all()) item.tabIndex = item === target ? 0 : -1;
  });
  element.addEventListener("keydown", (event) => {
    const list = all();
    const target = buttonOf(event);
    const at = list.findIndex((item) => item === target);
    if (at < 0) return;
    /** @type {Record<string, number>} */
    const steps = {
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: columns || 1,
      ArrowUp: -(columns || 1),
    };
    let next = null;
    if (event.key in steps) next = at + steps[event.key];
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = list.length - 1;
    if (next === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (columns && (next < 0 || next >= list.length)) return;
    list[(next + list.length) % list.length].focus();
  });
}

/**
 * Return the stock: a pack of backs with its number of cards.
 * @param {Page.Context} ctx
 * @param {{ action?: Wire.Action, label?: string }} [given]
 */
export function stock(ctx, given = {}) {
  const { action } = given;
  const pack = zone(ctx, "stock");
  const depth = Math.min(4, Math.ceil(pack.count / 8));
  const inside = [
    h(
      "span",
      { class: "pack", vars: { "--depth": depth } },
      pack.count ? picture(null, ctx.deck) : h("span", { class: "gap" }),
    ),
    h("span", { class: "place-name" }, `stock · ${pack.count}`),
  ];
  const data = { stock: ctx.deck };
  if (action && ctx.mine) {
    return h(
      "button",
      {
        type: "button",
        class: "place can",
        data: { ...data, key: "stock" },
        "aria-label": given.label,
        title: given.label,
        on: { click: () => ctx.act(action.id) },
      },
      inside,
      hintBar(ctx, [action]),
    );
  }
  return h(
    "div",
    { class: "place", data, role: "img", "aria-label": `stock, ${count(pack.count, "card")}` },
    inside,
  );
}

/**
 * Return the pile with its top card.
 * @param {Page.Context} ctx
 */
export function pile(ctx) {
  const cards = zone(ctx, "pile");
  const top = cards.cards[0];
  const face = top ? picture(top, ctx.deck) : h("span", { class: "gap" });
  if (top) face.dataset.move = "";
  return h(
    "div",
    {
      class: "place pile",
      role: "img",
      "aria-label": top ? `pile, top card ${cardName(top, ctx.deck)}` : "empty pile",
    },
    h("span", { class: "pack", vars: { "--depth": Math.min(3, cards.count - 1) } }, face),
    h("span", { class: "place-name" }, `pile · ${cards.count}`),
  );
}

/**
 * Return the buttons for actions that use no card of the hand, or for every action.
 * @param {Page.Context} ctx
 * @param {(action: Wire.Action) => Page.Child} words
 * @param {{ every?: boolean, class?: (action: Wire.Action) => string }} [given]
 */
export function actionBar(ctx, words, given = {}) {
  /** @type {Set<string | null>} */
  const held = new Set(zone(ctx, "hand", ctx.seat).cards);
  const free = ctx.legal.filter((action) => given.every || !held.has(action.card));
  if (!ctx.mine || !free.length) return null;
  const bar = h(
    "div",
    { class: "action-bar", role: "toolbar", "aria-label": "Your choices" },
    free.map((action) =>
      button([words(action), hintBar(ctx, [action])], () => ctx.act(action.id), {
        class: `button big ${given.class?.(action) ?? ""}`,
        data: { key: `action:${action.id}`, action: action.id },
      }),
    ),
  );
  rove(bar, "button");
  return bar;
}

/**
 * Return the line that says what to do now; replays and finished games have none.
 * @param {Page.Context} ctx
 * @param {string} text
 */
export function prompt(ctx, text) {
  if (ctx.replay || ctx.view.over) return null;
  const mover = ctx.view.description.to_move;
  let words = text;
  if (!ctx.mine && mover !== null) {
    const who = ctx.view.seats[mover];
    words =
      mover === ctx.seat && !ctx.watch
        ? "…"
        : who.kind === "open"
          ? `Waiting for a player to take ${ctx.names[mover]}`
          : who.kind === "person" && !who.connected
            ? `Waiting for ${ctx.names[mover]} to reconnect`
            : `${ctx.names[mover]} is to move`;
  }
  return h("p", { class: `prompt ${ctx.mine ? "mine" : ""}` }, words);
}

/**
 * Let the person choose one of several actions in a dialog, and play it.
 * @param {Page.Context} ctx
 * @param {string} title
 * @param {{ action: Wire.Action, look: Page.Child, label: string, class?: string }[]} choices
 */
export async function choose(ctx, title, choices) {
  const best = ctx.hint?.best;
  const answer = await ask(
    title,
    null,
    choices.map(({ action, look, label, class: name }, place) => ({
      look: [look, hintBar(ctx, [action])],
      label: best === action.id ? `${label}, advised by ${ctx.hint?.adviser}` : label,
      class: `choice ${name ?? ""}`,
      value: action.id,
      first: place === 0,
      data: { action: action.id },
    })),
    { row: "choices-row" },
  );
  if (answer !== null) ctx.act(answer);
}

/**
 * Return the lower part of a table: the own cards and name plate.
 * @param {Page.Context} ctx
 * @param {Page.Child[]} more
 */
export function own(ctx, ...more) {
  return h(
    "section",
    { class: "own-side", "aria-label": ctx.watch ? `Side of ${ctx.names[ctx.seat]}` : "Your side" },
    more,
    plate(ctx, ctx.seat),
  );
}

/**
 * Return the facts that no other part of the table shows.
 * @param {Page.Context} ctx
 * @param {string[]} skipped
 */
export function facts(ctx, skipped) {
  const { facts: values, parts } = ctx.view.description;
  const left = Object.entries(values).filter(([name]) => !skipped.includes(name));
  if (!left.length) return null;
  return h(
    "dl",
    { class: "facts" },
    left.map(([name, value]) =>
      h(
        "div",
        {},
        h("dt", {}, name),
        h("dd", {}, written(parts[name] ?? [String(value)], ctx.deck, ctx.names)),
      ),
    ),
  );
}

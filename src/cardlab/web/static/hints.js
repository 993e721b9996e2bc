// Hints: the adviser's values of all legal actions, as bars on cards and as a table.

import { cardFacts, cardWord, partsOf, picture, written } from "./cards.js";
import { h, s } from "./dom.js";

const MOST_TOKENS = 8;

/**
 * Return a hint message in the form that bars and tables need.
 * @param {Wire.Advice} message
 * @returns {Page.Hint}
 */
export function readHint(message) {
  const values = message.values.flatMap((action) =>
    action.value === null ? [] : [{ ...action, value: action.value }],
  );
  const all = values.map((action) => action.value);
  return {
    adviser: message.adviser,
    best: message.best,
    unit: message.unit,
    attention: message.attention,
    all: message.values,
    values: [...values].sort((a, b) => b.value - a.value),
    byId: new Map(values.map((action) => [action.id, action.value])),
    low: Math.min(...all),
    high: Math.max(...all),
  };
}

/** @param {number} value */
const number = (value) =>
  Math.abs(value) >= 100
    ? value.toFixed(0)
    : Math.abs(value) >= 10
      ? value.toFixed(1)
      : value.toFixed(2);

/**
 * Return the values as a table, the best first.
 * @param {Page.Hint} hint
 * @param {string} deck
 * @param {string[]} names
 * @param {{ played?: number }} [given]
 */
export function hintTable(hint, deck, names, given = {}) {
  const best = hint.all.find((action) => action.id === hint.best) ?? hint.all[0];
  if (!hint.values.length) {
    return h(
      "p",
      { class: "hint-who" },
      h("strong", {}, hint.adviser),
      " advises ",
      h("strong", {}, written(partsOf(best), deck, names)),
      " (this adviser gives no values)",
    );
  }
  const spread = hint.high - hint.low || 1;
  const rows = hint.values.map((action) => {
    const share = hint.high > hint.low ? (action.value - hint.low) / spread : 1;
    const chosen = given.played === action.id;
    return h(
      "tr",
      { class: `${action.id === hint.best ? "best" : ""} ${chosen ? "played" : ""}` },
      h(
        "th",
        { scope: "row" },
        written(partsOf(action), deck, names),
        chosen ? h("span", { class: "mark" }, "played") : null,
      ),
      h(
        "td",
        { class: "bar-cell" },
        h(
          "span",
          { class: "bar", vars: { "--share": share.toFixed(3) }, "aria-hidden": "true" },
          h("span", {}),
        ),
      ),
      h(
        "td",
        { class: "figure" },
        action.shown ?? number(action.value),
      ),
    );
  });
  return h(
    "div",
    { class: "hint-table" },
    h(
      "p",
      { class: "hint-who" },
      h("strong", {}, hint.adviser),
      " advises ",
      h("strong", {}, written(partsOf(best), deck, names)),
      hint.unit ? h("small", {}, ` (${hint.unit})`) : "",
    ),
    h(
      "table",
      {},
      h("caption", { class: "unseen" }, "Value of each action"),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "action"),
          h("th", { scope: "col" }, "compared"),
          h("th", { scope: "col", class: "figure" }, "value"),
        ),
      ),
      h("tbody", {}, rows),
    ),
    hint.attention ? attention(hint.attention, hint, deck) : null,
  );
}

/**
 * Return a heat map of a network's attention: a row for each action, a column for each token.
 * @param {Wire.Attention} given
 * @param {Page.Hint} hint
 * @param {string} deck
 */
function attention(given, hint, deck) {
  const { tokens, weights } = given;
  if (!tokens.length || !weights.length) return null;
  // The mean over all blocks: one number for each action and token.
  const rows = weights[0].map((_, action) =>
    tokens.map((__, token) => mean(weights.map((block) => block[action]?.[token] ?? 0))),
  );
  const most = Math.max(...rows.flat()) || 1;
  const best = Math.max(
    0,
    hint.all.findIndex((action) => action.id === hint.best),
  );
  const top = tokens
    .map((token, place) => ({ token, weight: rows[best]?.[place] ?? 0 }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST_TOKENS);
  const cells = rows.flatMap((row, y) =>
    row.map((weight, x) => {
      const cell = s(
        "rect",
        { x, y, width: 1, height: 1, class: "cell-of-heat" },
        s("title", {}, `${hint.all[y]?.text ?? ""}: ${tokens[x]} ${(100 * weight).toFixed(1)} %`),
      );
      cell.style.setProperty("--share", (weight / most).toFixed(3));
      return cell;
    }),
  );
  return h(
    "details",
    { class: "attention", open: true },
    h("summary", {}, "Attention of the network"),
    h(
      "p",
      { class: "small" },
      "One row for each action, one column for each card or fact; the darker, the more attention. " +
        "Below: the cards and facts with the most attention for the advised action.",
    ),
    s(
      "svg",
      {
        class: "heat",
        viewBox: `0 0 ${tokens.length} ${rows.length}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": `Attention of ${rows.length} actions to ${tokens.length} tokens; most for the advised one: ${top
          .slice(0, 3)
          .map((entry) => entry.token)
          .join(", ")}`,
      },
      cells,
    ),
    h(
      "ul",
      {},
      top.map(({ token, weight }) =>
        h(
          "li",
          {},
          h(
            "span",
            {
              class: "bar",
              vars: { "--share": (weight / most).toFixed(3) },
              "aria-hidden": "true",
            },
            h("span", {}),
          ),
          h(
            "span",
            {},
            cardFacts(token, deck) ? picture(token, deck, { class: "tiny" }) : null,
            " ",
            cardFacts(token, deck) ? cardWord(token, deck) : token,
          ),
          h("small", {}, `${(100 * weight).toFixed(1)} %`),
        ),
      ),
    ),
  );
}

/** @param {number[]} values */
const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

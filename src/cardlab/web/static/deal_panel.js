// What the page says of a deal: where the cards come from, who is missing before they are dealt,
// and what can be checked after the game.

import { ask, button, h } from "./dom.js";
import { linkButton } from "./table_panels.js";

/** @type {Record<Wire.Deal["kind"], { label: string, words: string }>} */
const KINDS = {
  fair: {
    label: "Fair deal",
    words:
      "Your browser, the browsers of the others and the server have each drawn a secret number, and all numbers together decide the cards: nobody at the table could choose or know them. After the game the numbers are shown, and your browser checks that nothing was changed.",
  },
  server: {
    label: "Dealt by the server",
    words:
      "The server has shuffled with a secret number and has shown a fingerprint (hash) of it before the first move. After the game it shows the number, and your browser checks that no card was changed meanwhile.",
  },
  chosen: {
    label: "Deal chosen by the host",
    words:
      "Whoever opened this table has chosen the seed that all cards follow from, and can know every hand. For a fair deal open a table without a seed.",
  },
  numbered: {
    label: "Numbered deal",
    words:
      "This is one of the numbered deals of the game: whoever knows the number can know the cards.",
  },
};
const FOREIGN = {
  label: "Dealt before you came",
  words:
    "Somebody opened the link of your seat before this browser did and may have seen your cards: another person, or you elsewhere. If it was not you, ask for a new table and for a link that only you get.",
};
const ONLY_FAIR = "Whoever runs the server could still look into it: a game for stakes needs a server that all of you trust.";

/**
 * Return the label of a deal; a click explains it.
 * @param {Wire.Deal} deal
 * @param {string[]} names
 * @param {boolean} foreign whether somebody else has drawn the number of the own seat
 */
export function dealLabel(deal, names, foreign) {
  const { label, words } = foreign ? FOREIGN : KINDS[deal.kind];
  const explain = () =>
    ask(
      label,
      [
        h("p", {}, words),
        deal.kind === "fair" && !foreign ? h("p", { class: "small" }, ONLY_FAIR) : null,
        deal.commitment ? hashList(deal, names) : null,
      ],
      [{ text: "Close", value: true, class: "primary", first: true }],
      { class: "about-deal" },
    );
  return button(label, explain, {
    class: `button small deal-label ${foreign ? "foreign" : deal.kind}`,
    title: "How these cards were dealt",
    "aria-haspopup": "dialog",
  });
}

/**
 * @param {Wire.Deal} deal
 * @param {string[]} names
 */
function hashList(deal, names) {
  const rows = [["Server", deal.commitment], ...deal.commitments.map((hash, k) => [names[k], hash])];
  return h(
    "details",
    {},
    h("summary", {}, "The hashes"),
    numberList(rows),
  );
}

/** @param {(string | null | undefined)[][]} rows a name and a number; rows without one are left out */
function numberList(rows) {
  return h(
    "dl",
    { class: "numbers" },
    rows
      .filter(([, number]) => number)
      .map(([name, number]) => h("div", {}, h("dt", {}, name), h("dd", {}, number))),
  );
}

/**
 * Return whom the deal waits for, in words.
 * @param {Wire.Gathering} data
 * @param {string[]} names
 */
export function waitingWords(data, names) {
  const missing = data.deal.waiting_for.filter((seat) => seat !== data.seat);
  if (!missing.length) return "Dealing …";
  return `Waiting for ${missing.map((seat) => names[seat]).join(" and ")}`;
}

/**
 * Return what stands on a table whose cards are not dealt yet.
 * @param {Wire.Gathering} data
 * @param {string[]} names
 * @param {Wire.SeatKey[]} links
 * @param {string | null} trouble why the own browser cannot do its part
 */
export function gatheringCard(data, names, links, trouble) {
  const rows = data.seats.map((one, seat) => {
    const state = stateOf(data, seat);
    const link = one.connected ? null : links.find((it) => it.seat === seat);
    return h(
      "li",
      { class: state.class },
      h("strong", {}, names[seat]),
      h("span", {}, state.words),
      link ? linkButton(data.table.id, link, "Copy the seat’s link") : null,
    );
  });
  return h(
    "section",
    { class: "gathering", "aria-label": "Before the deal" },
    h("h2", {}, waitingWords(data, names)),
    trouble ? h("p", { class: "notice bad", role: "alert" }, trouble) : null,
    h("ul", { class: "gathering-list" }, rows),
    h(
      "p",
      { class: "small" },
      "The cards are dealt once everybody has opened the link of their seat: each browser adds a secret number, so that nobody can choose the cards.",
    ),
  );
}

/**
 * @param {Wire.Gathering} data
 * @param {number} seat
 */
function stateOf(data, seat) {
  const { kind, connected } = data.seats[seat];
  if (kind === "agent") return { class: "here", words: "agent" };
  if (connected) return { class: "here", words: "here" };
  return { class: "missing", words: data.deal.commitments[seat] ? "has left" : "not here yet" };
}

const MARKS = new Map([
  [true, { mark: "✓", class: "right", words: "checked: " }],
  [false, { mark: "✗", class: "wrong", words: "wrong: " }],
  [null, { mark: "–", class: "open", words: "not checked: " }],
]);

/**
 * Return in one sentence what the checks of a deal have found.
 * @param {Page.Check[]} checks
 */
export function verdictWords(checks) {
  if (checks.some(({ ok }) => ok === false))
    return "This deal is not what was promised: a check has failed.";
  if (checks.some(({ ok }) => ok === null))
    return "The deal is right as far as this browser can check it.";
  return "Your browser has checked the deal: nobody changed it.";
}

/**
 * Return the proof of a deal: what was checked, and the numbers for whoever wants to check again.
 * @param {Wire.Proof} proof
 * @param {Page.Check[]} checks
 * @param {string[]} names
 */
export function proofPanel(proof, checks, names) {
  const wrong = checks.some(({ ok }) => ok === false);
  const drawn = (/** @type {number} */ seat) =>
    proof.by_server.includes(seat) ? `${names[seat]} (by the server)` : names[seat];
  return h(
    "details",
    { class: `proof ${wrong ? "wrong" : ""}`, open: wrong },
    h("summary", {}, h("span", { "aria-hidden": "true" }, wrong ? "✗ " : "✓ "), verdictWords(checks)),
    h(
      "ul",
      { class: "checks" },
      checks.map(({ text, ok }) => {
        const shown = MARKS.get(ok);
        return h(
          "li",
          { class: shown?.class },
          h("span", { "aria-hidden": "true" }, shown?.mark),
          h("span", {}, h("span", { class: "unseen" }, shown?.words), text),
        );
      }),
    ),
    numberList([
      ["Server’s number", proof.secret],
      ...proof.shares.map((share, seat) => [drawn(seat), share]),
      ["Key of the decks", proof.key],
    ]),
  );
}

// Texts about the deal: how the cards are dealt, who is missing before, the checks after the game.

import { ask, button, h } from "./dom.js";
import { linkButton } from "./table_panels.js";

/** @type {Record<Wire.Deal["kind"], { label: string, words: string }>} */
const KINDS = {
  fair: {
    label: "Fair deal",
    words:
      "The server and the browser of each player have drawn a secret number. The cards are computed from all numbers together, so no player could choose or know them. After the game all numbers are shown, and your browser checks that nothing was changed.",
  },
  server: {
    label: "Dealt by the server",
    words:
      "The server has shuffled with a secret number and published its hash (a fingerprint of the number) before the first move. After the game it shows the number, and your browser checks that no card was changed.",
  },
  chosen: {
    label: "Deal chosen by the host",
    words:
      "The person who opened this table has chosen the seed from which all cards are computed, and can know every hand. For a fair deal open a table without a seed.",
  },
  numbered: {
    label: "Numbered deal",
    words:
      "This is one of the numbered deals of the game. The cards follow from the number.",
  },
};
const FOREIGN = {
  label: "Seat opened elsewhere before",
  words:
    "The link of your seat was opened in another browser before, by you or by somebody else who may have seen your cards. If it was not you, ask for a new table, and for a link that only you get.",
};
const ONLY_FAIR = "The operator of the server could still read the cards during the game. Play for stakes only on a server that all of you trust.";

/**
 * Return the label of a deal, a button that explains it.
 * @param {Wire.Deal} deal
 * @param {string[]} names
 * @param {boolean} foreign whether another browser has drawn the number of the own seat
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
    title: "How the cards were dealt",
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
    h("summary", {}, "Hashes of the secret numbers"),
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
 * Return a text that names the players for whom the deal waits.
 * @param {Wire.Gathering} data
 * @param {string[]} names
 */
export function waitingWords(data, names) {
  const missing = data.deal.waiting_for.filter((seat) => seat !== data.seat);
  if (!missing.length) return "Dealing …";
  return `Waiting for ${missing.map((seat) => names[seat]).join(" and ")}`;
}

/**
 * Return the card that a table shows before the cards are dealt.
 * @param {Wire.Gathering} data
 * @param {string[]} names
 * @param {Wire.SeatKey[]} links
 * @param {string | null} trouble why this browser cannot take part in the deal
 */
export function gatheringCard(data, names, links, trouble) {
  const rows = data.seats.map((person, seat) => {
    const state = stateOf(data, seat);
    const link = person.connected ? null : links.find((it) => it.seat === seat);
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
      "The cards are dealt when all players have opened the link of their seat. Each browser contributes a secret number, so that nobody can choose the cards.",
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
  if (connected) return { class: "here", words: "connected" };
  return { class: "missing", words: data.deal.commitments[seat] ? "has left" : "has not joined yet" };
}

const MARKS = new Map([
  [true, { mark: "✓", class: "right", words: "checked: " }],
  [false, { mark: "✗", class: "wrong", words: "failed: " }],
  [null, { mark: "–", class: "open", words: "not checked: " }],
]);

/**
 * Return the result of all checks as one sentence.
 * @param {Page.Check[]} checks
 */
export function verdictWords(checks) {
  if (checks.some(({ ok }) => ok === false))
    return "A check has failed: these are not the cards that were fixed before the game.";
  if (checks.some(({ ok }) => ok === null))
    return "All checks that this browser can make have passed.";
  return "Your browser has checked the deal: nobody has changed it.";
}

/**
 * Return the checks of a deal, with all numbers for checks by other means.
 * @param {Wire.Proof} proof
 * @param {Page.Check[]} checks
 * @param {string[]} names
 */
export function proofPanel(proof, checks, names) {
  const wrong = checks.some(({ ok }) => ok === false);
  const drawn = (/** @type {number} */ seat) =>
    proof.by_server.includes(seat) ? `${names[seat]} (drawn by the server)` : names[seat];
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

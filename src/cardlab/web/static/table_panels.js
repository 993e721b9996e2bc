// The panels around the cards: seats, links for free seats, the result.

import { button, copy, count, h } from "./dom.js";

/** @param {Wire.Seat} person */
function state(person) {
  if (person.kind === "agent") return person.open_cards ? "agent, sees all cards" : "agent";
  if (person.kind === "open") return "free";
  return person.connected ? "here" : "away";
}

/**
 * Return a button that copies the link of a seat.
 * @param {string} id
 * @param {Wire.SeatKey} link
 * @param {string} text
 */
export function linkButton(id, link, text) {
  const address = `${location.origin}/table/${id}#${link.secret}`;
  const done = "Link copied. Send it to one person: whoever opens it takes the seat.";
  return button(text, () => copy(address, done), { class: "button small" });
}

/** @param {Wire.OptionValue} value */
const yes = (value) => (value === true ? "yes" : value === false ? "no" : value);

/**
 * Return the list of seats and the options of the game.
 * @param {Wire.Table} facts
 * @param {{ seat: number | null, seats: Wire.Seat[] }} view
 * @param {string[]} names
 * @param {Wire.SeatKey[]} links
 */
export function seatList(facts, view, names, links) {
  const options = Object.entries(facts.options).map(
    ([name, value]) => `${name.replaceAll("_", " ")}: ${yes(value)}`,
  );
  const rows = view.seats.map((person, seat) => {
    const link = seat === view.seat ? null : links.find((it) => it.seat === seat);
    const more = link ? [" ", linkButton(facts.id, link, "Copy the link")] : null;
    return h("li", {}, h("strong", {}, names[seat]), ` · ${state(person)}`, more);
  });
  return [
    h("ul", { class: "seat-list" }, rows),
    options.length ? h("p", { class: "small" }, options.join(" · ")) : null,
    h("p", { class: "small" }, "Anybody who knows the address of this page can watch, without seeing any hand."),
  ];
}

/**
 * Return a line with a link for every seat whose player is not connected.
 * @param {Wire.Table} facts
 * @param {Wire.View} view
 * @param {string[]} names
 * @param {Wire.SeatKey[]} links
 */
export function invitations(facts, view, names, links) {
  if (view.over) return [];
  const missing = links.filter(({ seat }) => view.seats[seat] && !view.seats[seat].connected);
  return missing.map((link) => {
    const free = view.seats[link.seat].kind === "open";
    const words = free
      ? "is free; send its link to another player."
      : "is not connected; this is the link back to the seat.";
    return h(
      "p",
      { class: "invite" },
      h("span", {}, `${names[link.seat]} ${words}`),
      linkButton(facts.id, link, "Copy the seat’s link"),
    );
  });
}

/**
 * Return the result with links for what to do next; `again` opens a new table with the same
 * settings, `proof` shows the checks of the deal.
 * @param {Wire.Table} facts
 * @param {Wire.Result} over
 * @param {number | null} own
 * @param {string[]} names
 * @param {(() => unknown) | null} again
 * @param {HTMLElement} proof
 */
export function resultCard(facts, over, own, names, again, proof) {
  const { returns, points, words } = over;
  const won = own !== null && returns[own] > 0 && returns[own] === Math.max(...returns);
  const seats = [...points.keys()].sort((a, b) => returns[b] - returns[a] || points[b] - points[a]);
  const rows = seats.map((seat) =>
    h("li", {}, h("span", {}, names[seat]), h("strong", {}, count(points[seat], "point"))),
  );
  return h(
    "section",
    { class: `result ${won ? "won" : ""}`, "aria-label": "Result" },
    h("h2", { tabindex: "-1" }, words),
    points.length > 1 ? h("ol", { class: "points-list" }, rows) : null,
    h(
      "div",
      { class: "result-links" },
      again ? button("New game", again, { class: "button primary", data: { key: "again" } }) : null,
      h("a", { class: "button", href: `/replay/${facts.id}` }, "Watch the replay"),
      h(
        "a",
        { class: "button", href: `/api/tables/${facts.id}/record`, download: "" },
        "Download the record",
      ),
      h("a", { class: "button", href: "/" }, "Lobby"),
    ),
    proof,
  );
}

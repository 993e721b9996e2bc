// The log: the events that each view adds to those seen before.

import { partsOf, written } from "./cards.js";
import { h } from "./dom.js";

/**
 * @param {Wire.Entry} a
 * @param {Wire.Entry} b
 */
const same = (a, b) => a.seat === b.seat && a.text === b.text;

/**
 * Return the events of `now` that are not in `before`; the oldest ones may have dropped out.
 * @param {Wire.Entry[]} before
 * @param {Wire.Entry[]} now
 */
export function added(before, now) {
  for (let kept = Math.min(before.length, now.length); kept >= 0; kept -= 1) {
    const tail = before.slice(before.length - kept);
    if (tail.every((event, place) => same(event, now[place]))) return now.slice(kept);
  }
  return now;
}

/**
 * Return an event as an item of the log.
 * @param {Wire.Entry} event
 * @param {string} deck
 * @param {string[]} names
 */
export function entry(event, deck, names) {
  const who =
    event.seat === null
      ? null
      : h("strong", { class: `who who-${event.seat % 6}` }, names[event.seat] ?? "");
  return h("li", {}, who, who ? " " : "", written(partsOf(event), deck, names));
}

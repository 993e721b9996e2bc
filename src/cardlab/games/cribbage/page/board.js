// The cribbage board: two tracks of holes in several rows (streets), with two pegs for each seat.

import { s } from "/static/dom.js";

/** @typedef {{ seat: number, front: number, back: number }} Pegs the holes of a seat's two pegs */

const GAP = 10; // between holes
const GROUP = 5; // holes in a group
const ROOM = 5; // extra space after each group
const LANE = 10; // between the two tracks
const STREET = 36; // between two streets
const EDGE = 22;

/**
 * Return the position of a hole of a seat's track.
 * @param {number} hole
 * @param {number} track
 * @param {number} target
 */
function place(hole, track, target) {
  const length = target > 61 ? 40 : 30;
  if (hole <= 0) return { x: EDGE - 14, y: EDGE + track * LANE };
  const last = hole >= target;
  const street = Math.min(Math.floor((hole - 1) / length), Math.ceil((target - 1) / length) - 1);
  const along = last ? length : (hole - 1) % length;
  const steps = along * GAP + Math.floor(along / GROUP) * ROOM;
  const wide = (length - 1) * GAP + Math.floor((length - 1) / GROUP) * ROOM;
  const backwards = street % 2 === 1;
  const x = backwards ? EDGE + wide - steps : EDGE + steps;
  const lane = backwards ? 1 - track : track; // tracks change sides at each bend
  return { x, y: EDGE + street * STREET + lane * LANE };
}

/**
 * Return the board with both pegs of each seat.
 * @param {Pegs[]} board
 * @param {number} target
 * @param {string[]} names
 */
export function cribbageBoard(board, target, names) {
  const length = target > 61 ? 40 : 30;
  const wide = (length - 1) * GAP + Math.floor((length - 1) / GROUP) * ROOM + 2 * EDGE + GAP;
  const streets = Math.ceil((target - 1) / length);
  const high = 2 * EDGE + (streets - 1) * STREET + LANE;
  /** @type {SVGElement[]} */
  const parts = [
    s("rect", { class: "wood", x: 1, y: 1, width: wide - 2, height: high - 2, rx: 12 }),
  ];
  for (let street = 0; street < streets; street += 1) {
    for (let group = 0; group < length; group += GROUP) {
      const from = place(street * length + group + 1, 0, target);
      const to = place(street * length + Math.min(group + GROUP, length), 0, target);
      const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)];
      parts.push(
        s("rect", {
          class: "groove",
          x: left - 5,
          y: EDGE + street * STREET - 6,
          width: right - left + 10,
          height: LANE + 12,
          rx: 5,
        }),
      );
    }
    if (street < streets - 1) {
      const end = place(length * (street + 1), 0, target);
      const side = street % 2 === 0 ? 1 : -1;
      const middle = EDGE + street * STREET + LANE / 2;
      parts.push(
        s("path", {
          class: "bend",
          d: `M${end.x + side * 8} ${middle}q${side * 9} 0 ${side * 9} ${STREET / 2}t${-side * 9} ${STREET / 2}`,
        }),
      );
    }
  }
  for (let hole = 1; hole <= target; hole += 1) {
    for (const track of [0, 1]) {
      const { x, y } = place(hole, track, target);
      parts.push(
        s("circle", { class: hole >= target ? "hole finish" : "hole", cx: x, cy: y, r: 1.9 }),
      );
    }
  }
  const skunk = target > 61 ? [61, 91] : [31];
  for (const hole of skunk) {
    const { x, y } = place(hole - 1, 0, target);
    parts.push(
      s("text", { class: "skunk", x, y: y + (place(hole - 1, 1, target).y > y ? -9 : 16) }, "S"),
    );
  }
  for (const { seat, front, back } of board) {
    for (const { hole, kind } of [
      { hole: back, kind: "back" },
      { hole: front, kind: "front" },
    ]) {
      if (kind === "back" && back === front) continue;
      const { x, y } = place(Math.min(hole, target), seat, target);
      parts.push(
        s("circle", {
          class: `peg peg-${seat} ${kind}`,
          cx: x,
          cy: y,
          r: kind === "front" ? 4.6 : 3.8,
        }),
      );
    }
  }
  const scores = board.map(({ seat, front }) => `${names[seat]} ${front}`).join(", ");
  return s(
    "svg",
    {
      class: "crib-board",
      viewBox: `0 0 ${wide} ${high}`,
      role: "img",
      "aria-label": `Cribbage board to ${target}: ${scores}`,
    },
    parts,
  );
}

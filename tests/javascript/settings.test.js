// What a browser remembers, with storage and (as in some private windows) without it.

import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { test } from "node:test";

import * as settings from "../../src/cardlab/web/static/settings.js";

globalThis.crypto ??= webcrypto;

const stored = new Map();

/** Storage as browsers have it. */
const storage = {
  getItem: (name) => stored.get(name) ?? null,
  setItem: (name, value) => stored.set(name, value),
  removeItem: (name) => stored.delete(name),
};

function setStorage(value) {
  for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(globalThis, name, { value, configurable: true });
}

function withStorage(body) {
  stored.clear();
  setStorage(storage);
  try {
    body();
  } finally {
    setStorage(undefined);
  }
}

setStorage(undefined);

test("without storage the page remembers as long as it lives", () => {
  assert.equal(settings.recall("name", "nobody"), "nobody");
  settings.keep("name", "Ada");
  assert.equal(settings.recall("name", "nobody"), "Ada");
});

test("a pace that nobody knows is the normal one", () => {
  withStorage(() => {
    assert.equal(settings.pace(), settings.PACES.normal);
    settings.keep("pace", "fast");
    assert.equal(settings.pace(), settings.PACES.fast);
    settings.keep("pace", "hurried");
    assert.equal(settings.pace(), settings.PACES.normal);
  });
});

test("what is stored but broken counts as nothing", () => {
  withStorage(() => {
    stored.set("cardlab.broken", "{");
    assert.equal(settings.recall("broken", 7), 7);
  });
});

test("the tables not met for longest are forgotten", (context) => {
  let now = 0;
  context.mock.method(Date, "now", () => (now += 1));
  withStorage(() => {
    for (let k = 0; k < 50; k += 1) settings.rememberTable(`t${k}`, { secret: `s${k}` });
    const own = settings.ownTables();
    assert.equal(own.length, 40);
    assert.equal(own[0].id, "t49");
    assert.deepEqual(settings.tableMemory("t0"), {});
  });
});

test("a tab's seat comes before the browser's, and a wrong one is given up", () => {
  withStorage(() => {
    settings.takeSeat("t", "first");
    settings.takeSeat("t", "second");
    assert.equal(settings.seatSecret("t"), "second");
    settings.leaveSeat("t");
    assert.equal(settings.seatSecret("t"), "first");
    settings.leaveSeat("t");
    assert.equal(settings.seatSecret("t"), null);
  });
});

test("a seat's number of the deal is drawn once and stays", () => {
  withStorage(() => {
    assert.equal(settings.dealNumber("t"), null); // whoever looks on adds nothing
    settings.takeSeat("t", "first");
    const number = settings.dealNumber("t");
    assert.match(number, /^[0-9a-f]{64}$/);
    assert.equal(settings.dealNumber("t"), number);
    settings.takeSeat("t", "second"); // another tab of this browser, at another seat
    assert.notEqual(settings.dealNumber("t"), number);
    stored.delete("cardlab.seat.t");
    assert.equal(settings.dealNumber("t"), number);
  });
});

test("the hashes of a deal are kept as they were seen first", () => {
  const deal = (server, seats) => ({ kind: "fair", commitment: server, commitments: seats });
  withStorage(() => {
    const early = settings.promisedDeal("t", deal("s", ["a", null]), false);
    assert.deepEqual(early, { server: "s", seats: [] });
    const fixed = settings.promisedDeal("t", deal("other", ["a", "b"]), true);
    assert.deepEqual(fixed, { server: "s", seats: ["a", "b"] });
    assert.deepEqual(settings.promisedDeal("t", deal("s", ["a", "c"]), true), fixed);
    assert.deepEqual(settings.tableMemory("t").promised, fixed);
  });
});

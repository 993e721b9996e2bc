// Pure parts of the pages: what the log adds, hints, names of seats; and that nothing lies dead.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { count, isolated } from "../../src/cardlab/web/static/dom.js";
import { readHint } from "../../src/cardlab/web/static/hints.js";
import { added } from "../../src/cardlab/web/static/log.js";
import { namesOf } from "../../src/cardlab/web/static/game_page.js";

const SOURCE = fileURLToPath(new URL("../../src/cardlab/", import.meta.url));
const CALLED = ["start", "render", "order", "key"]; // by app.js and stage.js, of what they load

const events = (...texts) => texts.map((text) => ({ seat: 0, text }));

test("the log shows what a view adds, also when it lost its oldest entries", () => {
  assert.deepEqual(added([], events("a", "b")), events("a", "b"));
  assert.deepEqual(added(events("a", "b"), events("a", "b", "c")), events("c"));
  assert.deepEqual(added(events("a", "b", "c"), events("b", "c", "d")), events("d"));
  assert.deepEqual(added(events("a", "a"), events("a", "a", "a")), events("a"));
  assert.deepEqual(added(events("a"), events("x")), events("x"));
});

test("a hint is sorted, and actions without a value have no bar", () => {
  const row = (id, value) => ({ id, text: `${id}`, card: null, value, shown: null });
  const hint = readHint({
    adviser: "fair",
    best: 3,
    unit: null,
    attention: null,
    values: [row(1, 20), row(2, null), row(3, 60)],
  });
  assert.deepEqual(
    hint.values.map((one) => one.id),
    [3, 1],
  );
  assert.deepEqual([hint.low, hint.high, hint.all.length], [20, 60, 3]);
  assert.equal(hint.byId.get(2), undefined);
});

test("equal names are told apart, the own seat is `You`", () => {
  const seats = [{ name: "fair" }, { name: "Ada" }, { name: "fair" }, { name: null }];
  assert.deepEqual(namesOf(seats, 1), ["fair 1", "You", "fair 2", "Seat 4"]);
});

test("counts have nouns, and a name cannot turn the words around it", () => {
  assert.deepEqual([count(1, "card"), count(0, "card")], ["1 card", "0 cards"]);
  assert.equal(isolated("Ada"), "Ada");
  assert.equal(isolated("\u05d0"), "\u2068\u05d0\u2069");
});

test("everything that a module exports is used by another one", () => {
  const texts = new Map(
    readdirSync(SOURCE, { recursive: true })
      .filter((name) => name.endsWith(".js"))
      .map((name) => [name, readFileSync(join(SOURCE, name), "utf8")]),
  );
  const imported = new Set(
    [...texts.values()].flatMap((text) =>
      [...text.matchAll(/import \{([^}]*)\} from/g)].flatMap((found) =>
        found[1].split(",").map((name) => name.trim()),
      ),
    ),
  );
  assert.ok(imported.has("cardName"));
  for (const [file, text] of texts) {
    for (const [, name] of text.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm))
      assert.ok(imported.has(name) || CALLED.includes(name), `${file}: nothing imports ${name}`);
  }
});

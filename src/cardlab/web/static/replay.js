// Replays: a slider over all positions, an adviser's values, the costliest moves.

import { announce } from "./announce.js";
import { get, post, reach } from "./api.js";
import { partsOf, spoken, written } from "./cards.js";
import { button, copy, count, download, h, isolated, put, s, reasonOf, sentence, toast } from "./dom.js";
import { draw, loadPage, measures, namesOf } from "./game_page.js";
import { hintTable, readHint } from "./hints.js";
import { glide } from "./motion.js";
import { pace } from "./settings.js";

const SHORTEST_STEP = 350;

const ICONS = {
  first: "M6 5v14M19 5l-9 7 9 7z",
  back: "M17 5l-10 7 10 7z",
  on: "M7 5l10 7-10 7z",
  last: "M18 5v14M5 5l9 7-9 7z",
};

/** @param {keyof typeof ICONS} name */
const icon = (name) =>
  s(
    "svg",
    { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" },
    s("path", { d: ICONS[name] }),
  );

/**
 * Start the page of replays.
 * @param {HTMLElement} main
 */
export async function start(main) {
  document.body.classList.add("replay");
  const id = decodeURIComponent(location.pathname.split("/")[2] ?? "");
  if (id) await open(main, await get(`/api/replays/${encodeURIComponent(id)}`), id);
  else await welcome(main);
}

/**
 * @param {HTMLElement} main
 * @param {Wire.Replay} replay
 * @param {string | null} id
 */
async function open(main, replay, id) {
  /** @type {[Page.Renderer, Wire.Game[]]} */
  const [renderer, games] = await Promise.all([loadPage(replay.page), get("/api/games")]);
  const page = new ReplayPage(
    main,
    replay,
    renderer,
    games.find((entry) => entry.name === replay.game),
    id,
  );
  await page.go(Math.min(Number(location.hash.slice(1)) || 0, page.last));
}

/** @param {HTMLElement} main */
async function welcome(main) {
  const file = h("input", {
    type: "file",
    accept: ".json,.jsonl,application/json",
    class: "unseen",
    id: "file",
  });
  const take = async (/** @type {File | undefined} */ given) => {
    if (!given) return;
    try {
      await open(main, await post("/api/replays", await given.text()), null);
    } catch (error) {
      toast(sentence(reasonOf(error)), "bad");
    }
  };
  file.addEventListener("change", () => take(file.files?.[0]));
  /** @type {HTMLElement} */
  const drop = h(
    "div",
    {
      class: "drop",
      on: {
        dragover: (event) => {
          event.preventDefault();
          drop.classList.add("over");
        },
        dragleave: () => drop.classList.remove("over"),
        drop: (event) => {
          event.preventDefault();
          drop.classList.remove("over");
          take(event.dataTransfer?.files[0]);
        },
      },
    },
    h("p", {}, "Open the record of a game (.jsonl): drop the file here, or"),
    h("label", { class: "button primary", for: "file" }, "choose a file"),
    file,
  );
  const list = h(
    "section",
    { class: "sheet", "aria-label": "Games to watch" },
    h("h2", {}, "Games to watch"),
  );
  put(main, h("div", { class: "page" }, h("h1", {}, "Replays"), drop, list));
  /** @type {Wire.Recent[]} */
  const games = await get("/api/games/recent").catch(() => []);
  list.append(
    games.length
      ? h(
          "ul",
          { class: "costs" },
          games
            .slice(0, 20)
            .map((game) =>
              h(
                "li",
                {},
                h(
                  "a",
                  { class: "button", href: `/replay/${game.id}` },
                  h("strong", {}, game.title),
                  h(
                    "span",
                    {},
                    game.seats
                      .map((name, seat) => `${isolated(name)} ${game.points?.[seat] ?? ""}`)
                      .join(" · "),
                  ),
                ),
              ),
            ),
        )
      : h(
          "p",
          { class: "empty-note" },
          "No finished games yet. ",
          h("a", { href: "/" }, "Play one"),
          ".",
        ),
  );
}

class ReplayPage {
  at = -1;
  perspective = 0;
  /** @type {Map<number, Page.Hint>} */
  advice = new Map();
  /** @type {number | null} */
  playing = null;
  board = h("div", { class: "board" });
  line = h("p", { class: "move-line", "aria-live": "off" });
  where = h("output", { for: "scrub" });
  adviser = h("select", { id: "adviser" });
  values = h("div", { role: "status" });
  costs = h("div");
  playButton = button("Play", () => this.toggle(), { title: "Play (Space)" });

  /**
   * @param {HTMLElement} main
   * @param {Wire.Replay} replay
   * @param {Page.Renderer} renderer
   * @param {Wire.Game | undefined} game
   * @param {string | null} id
   */
  constructor(main, replay, renderer, game, id) {
    this.main = main;
    this.replay = replay;
    this.renderer = renderer;
    this.game = game;
    this.id = id;
    this.last = replay.frames.length - 1;
    /** @type {Wire.Seat[]} */
    this.seats = replay.seats.map((name) => ({
      name,
      kind: "agent",
      connected: true,
      open_cards: false,
    }));
    this.names = namesOf(this.seats, null);
    this.deck = replay.page.deck;
    this.range = h("input", {
      type: "range",
      id: "scrub",
      min: 0,
      max: this.last,
      step: 1,
      "aria-label": "Position",
      on: { input: (event) => this.go(Number(event.currentTarget.value)) },
    });
    this.build();
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("resize", () => this.draw());
    window.addEventListener("hashchange", () => this.go(Number(location.hash.slice(1)) || 0));
  }

  build() {
    const { replay } = this;
    document.title = `Replay of ${replay.title} · cardlab`;
    const step = (
      /** @type {keyof typeof ICONS} */ name,
      /** @type {string} */ label,
      /** @type {() => number} */ target,
    ) =>
      button(icon(name), () => this.go(target()), {
        class: "button round",
        "aria-label": label,
        title: label,
      });
    const look = h(
      "select",
      {
        id: "look",
        on: {
          change: (event) => {
            this.perspective = Number(event.currentTarget.value);
            this.draw();
          },
        },
      },
      this.names.map((name, seat) => h("option", { value: seat }, name)),
    );
    const fair = (this.game?.agents ?? []).filter((agent) => !agent.open && agent.values);
    put(
      this.adviser,
      fair.map((agent) =>
        h("option", { value: agent.spec, selected: agent.spec === this.game?.adviser }, agent.spec),
      ),
    );
    put(
      this.main,
      h(
        "div",
        { class: "replay-page" },
        h(
          "div",
          { class: "table-bar" },
          h("h1", {}, replay.title, ": ", this.names.join(" · ")),
          h(
            "div",
            { class: "bar-tools" },
            replay.seats.length > 1
              ? h("label", { class: "field-inline" }, h("span", {}, "Seen from"), look)
              : null,
            this.id
              ? button(
                  "Share",
                  () =>
                    copy(
                      `${location.origin}/replay/${this.id}#${this.at}`,
                      "Link to this position copied.",
                    ),
                  {},
                )
              : null,
            button("Download", () =>
              download(`${replay.game}.jsonl`, `${JSON.stringify(replay.record)}\n`),
            ),
            h("a", { class: "button", href: "/replay" }, "Other games"),
          ),
        ),
        h(
          "div",
          {},
          h(
            "div",
            { class: "scrub" },
            step("first", "First position", () => 0),
            step("back", "One move back (left arrow)", () => this.at - 1),
            this.playButton,
            step("on", "One move forward (right arrow)", () => this.at + 1),
            step("last", "Last position", () => this.last),
            this.range,
            this.where,
          ),
          h("section", { class: "felt", "aria-label": "Table" }, this.line, this.board),
        ),
        h(
          "aside",
          { class: "side", "aria-label": "Adviser" },
          h(
            "section",
            { class: "sheet" },
            h("h2", {}, "Values"),
            fair.length
              ? [
                  h(
                    "label",
                    { class: "small", for: "adviser" },
                    "Adviser; it sees only the cards of the seat to move",
                  ),
                  this.adviser,
                  button("Evaluate this move", () => this.ask(), {
                    class: "button primary",
                    title: "Ask the adviser for its values (H)",
                  }),
                ]
              : h("p", {}, "No agent of this game gives values."),
            this.values,
          ),
          h("section", { class: "sheet" }, h("h2", {}, "Costliest moves"), this.costs),
          h(
            "section",
            { class: "sheet" },
            h("h2", {}, "Result"),
            h("p", {}, replay.result?.words ?? "This game was not finished."),
            replay.result && replay.seats.length > 1
              ? h(
                  "ul",
                  { class: "seat-list" },
                  replay.result.points.map((points, seat) =>
                    h("li", {}, `${this.names[seat]}: ${count(points, "point")}`),
                  ),
                )
              : null,
          ),
        ),
      ),
    );
    put(
      this.costs,
      fair.length ? button("Evaluate the whole game", () => this.review()) : h("p", {}, "–"),
    );
  }

  frame(at = this.at) {
    return this.replay.frames[at];
  }

  /** @returns {Page.Context} */
  context() {
    const frame = this.frame();
    const before = this.at > 0 ? this.frame(this.at - 1) : null;
    const hint = this.advice.get(this.at);
    /** @type {Page.View} */
    const view = {
      description: frame.description,
      extra: frame.extra,
      version: this.at,
      ply: this.at,
      seat: this.perspective,
      seats: this.seats,
      table: { id: "replay" },
      over: null,
      move: before?.action ? { seat: Number(before.mover), ...before.action } : null,
    };
    return {
      view,
      game: this.replay.game,
      deck: this.deck,
      names: this.names,
      order: this.renderer.order,
      seat: this.perspective,
      watch: true,
      replay: true,
      mine: false,
      legal: hint ? hint.all : [],
      hint: hint ?? null,
      solvable: null,
      act() {},
      send() {},
      refuse: null,
      onStale() {},
      redraw: () => this.draw(),
      ...measures(this.board),
    };
  }

  draw() {
    if (this.at < 0) return;
    draw(this.board, this.renderer, this.context());
    const frame = this.frame();
    const next = frame.action;
    const who = frame.mover === null ? "" : this.names[frame.mover];
    put(
      this.line,
      next
        ? [
            h("strong", {}, who),
            ": ",
            written(partsOf(next), this.deck, this.names),
          ]
        : (this.replay.result?.words ?? "The record ends here"),
    );
    this.where.textContent = `${this.at} of ${this.last}`;
    this.range.value = String(this.at);
    const hint = this.advice.get(this.at);
    put(this.values, hint ? hintTable(hint, this.deck, this.names, { played: next?.id }) : null);
  }

  /** @param {number} target */
  async go(target) {
    const at = Math.max(0, Math.min(this.last, target));
    if (at === this.at) return;
    const before = this.at >= 0 ? this.frame().description : null;
    const near = Math.abs(at - this.at) === 1;
    this.at = at;
    if (this.id) history.replaceState(null, "", `#${at}`);
    await glide(this.board, near ? before : null, this.context().view, () => this.draw());
    const done = at > 0 ? this.frame(at - 1) : null;
    if (done?.action)
      announce(
        `${this.names[Number(done.mover)]} ${spoken(partsOf(done.action), this.deck, this.names)}`,
      );
  }

  toggle(stop = false) {
    if (this.playing || stop) {
      clearTimeout(this.playing ?? undefined);
      this.playing = null;
      this.playButton.textContent = "Play";
      return;
    }
    this.playButton.textContent = "Pause";
    const next = async () => {
      if (this.at >= this.last) {
        this.toggle(true);
        return;
      }
      await this.go(this.at + 1);
      if (this.playing) this.playing = setTimeout(next, Math.max(SHORTEST_STEP, pace()));
    };
    this.playing = setTimeout(next, 0);
  }

  async ask() {
    const ply = this.at;
    if (!this.frame(ply).action) {
      toast("The game ends here; go to an earlier move and ask again.");
      return;
    }
    put(this.values, h("p", { class: "small" }, "Thinking …"));
    try {
      const advice = await post("/api/replays/advice", {
        record: this.replay.record,
        ply,
        adviser: this.adviser.value,
      });
      this.keep(advice);
    } catch (error) {
      put(this.values, h("p", {}, sentence(reasonOf(error))));
    }
  }

  /** @param {Wire.MoveAdvice} advice */
  keep(advice) {
    this.advice.set(advice.ply, readHint(advice));
    if (advice.ply !== this.at) return;
    this.draw();
  }

  async review() {
    const bar = h("progress", { max: this.last, value: 0, "aria-label": "Moves evaluated" });
    const words = h("p", { class: "small" }, "Evaluating all moves …");
    put(this.costs, bar, words);
    try {
      const answer = await reach("/api/replays/review", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ record: this.replay.record, adviser: this.adviser.value }),
      });
      if (!answer.ok || !answer.body) throw new Error((await answer.json()).error);
      for await (const line of lines(answer.body)) {
        if (line.type === "error") throw new Error(line.error);
        if (line.type === "move") this.keep(line.advice);
        if (line.type === "done") this.showCosts(line.worst);
        else bar.value = line.ply;
      }
    } catch (error) {
      put(
        this.costs,
        h("p", {}, sentence(reasonOf(error))),
        button("Try again", () => this.review()),
      );
    }
  }

  /** @param {Wire.Cost[]} worst */
  showCosts(worst) {
    announce(worst.length ? `${count(worst.length, "costly move")} found` : "No costly move found");
    put(
      this.costs,
      worst.length
        ? h(
            "ol",
            { class: "costs" },
            worst.map((move) =>
              h(
                "li",
                {},
                button(
                  [
                    h(
                      "span",
                      {},
                      `move ${move.ply + 1}: `,
                      h("strong", {}, this.names[move.mover]),
                      " ",
                      written(partsOf(move.taken), this.deck, this.names),
                      "; better: ",
                      written(partsOf(move.best), this.deck, this.names),
                    ),
                    h("strong", {}, `−${move.cost.toFixed(1)}`),
                  ],
                  () => {
                    this.toggle(true);
                    this.go(move.ply);
                  },
                ),
              ),
            ),
          )
        : h("p", {}, "By the values of the adviser no move cost anything."),
    );
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      !(event.target instanceof Element) ||
      event.target.closest("input, select, textarea, button, a, summary, .hand")
    )
      return;
    /** @type {Record<string, number>} */
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    if (event.key in steps) this.go(this.at + steps[event.key]);
    else if (event.key === " ") this.toggle();
    else if (event.key.toLowerCase() === "h") this.ask();
    else return;
    event.preventDefault();
  }
}

/**
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 * @returns {AsyncGenerator<Wire.Review>}
 */
async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    rest += value;
    const parts = rest.split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) if (part) yield JSON.parse(part);
  }
  if (rest) yield JSON.parse(rest);
}

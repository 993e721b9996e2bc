// The page of a table: connection, queue of views, speed, log, hints, keys, the end of a game.

import { announce } from "./announce.js";
import { Refusal, get } from "./api.js";
import { TableDeal } from "./table_deal.js";
import { invitations, resultCard, seatList } from "./table_panels.js";
import { cardName, partsOf, spoken } from "./cards.js";
import { button, capital, h, put, reasonOf, sentence, toast, wait } from "./dom.js";
import { hashOf } from "./fair_deal.js";
import { draw, loadPage, measures, namesOf } from "./game_page.js";
import { showHelp } from "./help.js";
import { hintTable, readHint } from "./hints.js";
import { added, entry } from "./log.js";
import { glide } from "./motion.js";
import { openTable } from "./open_table.js";
import {
  PACES,
  dealNumber,
  keep,
  pace,
  recall,
  leaveSeat,
  seatSecret,
  tableMemory,
  takeSeat,
} from "./settings.js";
import { openLine } from "./socket.js";

const OWN_PAUSE = 250; // milliseconds after the own move, so that it is seen before the reply
const MOST_LETTERS = 46; // in a bubble
const MOST_QUEUED = 30; // views that may wait before the page shows them without pauses
const RETRY = 1000; // milliseconds until a table whose last move is being saved is asked for again
const BUSY = 503;

/**
 * Start the page of a table.
 * @param {HTMLElement} main
 */
export async function start(main) {
  const id = decodeURIComponent(location.pathname.split("/")[2] ?? "");
  const fragment = location.hash.slice(1);
  if (fragment) {
    takeSeat(id, fragment);
    history.replaceState(null, "", location.pathname); // hides the secret, also in screenshots
  }
  // The connection opens while facts and renderer are fetched; its first messages wait for them.
  /** @type {Page.LineNews[]} */
  const early = [];
  /** @type {TablePage | null} */
  let page = null;
  const line = openLine(
    id,
    () => {
      const number = dealNumber(id);
      const commitment = number && hashOf(number);
      return { secret: seatSecret(id), name: recall("name", "") || null, commitment };
    },
    (news) => {
      if (page) {
        page.hear(news);
        return;
      }
      early.push(news);
      if (news.data?.type === "saving") explainWait(main);
    },
  );
  const known = tableMemory(id).page;
  if (known) loadPage(known).catch(() => {}); // the facts decide, and may name another page
  try {
    const facts = await tableFacts(main, id);
    page = new TablePage(main, id, facts, await loadPage(facts.page), line);
  } catch (error) {
    line.close();
    throw error;
  }
  for (const news of early) page.hear(news);
  await page.first;
}

/**
 * Return the facts of a table; while its last move is being saved, the request is repeated.
 * @param {HTMLElement} main
 * @param {string} id
 * @returns {Promise<Wire.Table>}
 */
async function tableFacts(main, id) {
  for (;;) {
    try {
      return await get(`/api/tables/${encodeURIComponent(id)}`);
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== BUSY) throw error;
      explainWait(main);
      await wait(RETRY);
    }
  }
}

/** @param {HTMLElement} main */
function explainWait(main) {
  if (main.querySelector(".notice")) return;
  const words = "The last move at this table is being saved. Please wait; the table appears afterwards.";
  put(main, h("div", { class: "notice" }, h("p", {}, h("span", { class: "saving-mark" }), words)));
  announce(words);
}

class TablePage {
  /** @type {Wire.View[]} */
  queue = [];
  /** @type {Wire.View | null} */
  shown = null;
  /** @type {string[]} */
  names = [];
  /** @type {Wire.Entry[]} */
  events = [];
  /** @type {Page.News} */
  news = new Map();
  /** @type {Page.Hint | null} */
  hint = null;
  /** @type {string | null} */
  solvable = null;
  /** @type {(() => void)[]} */
  stale = [];
  hintWished = false; // a hint was asked for before the own turn
  hintAsked = -1; // the position for which a hint was last asked
  waiting = false; // whether the server has not answered the own move yet
  saving = false; // whether the last move is being saved
  sent = -1; // the position in which the own move was sent
  draining = false;
  ended = false;
  readyAt = 0;
  arrived = () => {};
  /** @type {Promise<void>} */
  first = new Promise((done) => (this.arrived = done)); // until there is something to see
  board = h("div", { class: "board" });
  strip = h("div", { class: "strip", role: "alert" });
  end = h("div", { class: "end" });
  savingNote = h("p", { class: "saving", role: "status" });
  invites = h("div", { class: "invites" });
  logList = h("ol", { class: "log-list", tabindex: "0", "aria-label": "Log of the game" });
  logPanel = panel("log", "Log", this.logList);
  hintBody = h("div");
  hintPanel = panel("hints", "Hints", this.hintBody);
  hintButton = button("Hint", () => this.askHint(), {
    class: "button",
    title: "Ask the adviser for a hint (H)",
    "aria-keyshortcuts": "h",
  });
  seatBody = h("div");
  seatPanel = panel("about", "This table", this.seatBody);

  /**
   * @param {HTMLElement} main
   * @param {string} id
   * @param {Wire.Table} facts
   * @param {Page.Renderer} renderer
   * @param {Page.Line} line
   */
  constructor(main, id, facts, renderer, line) {
    this.main = main;
    this.id = id;
    this.facts = facts;
    this.renderer = renderer;
    this.line = line;
    this.deck = facts.page.deck;
    this.deal = new TableDeal(id);
    this.build();
    if (!seatSecret(id)) toast("You watch this table without a seat; to play, open the link of a seat.");
    document.addEventListener("keydown", (event) => this.key(event));
    /** @type {number | undefined} */
    let timer;
    window.addEventListener("resize", () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.redraw(), 120);
    });
  }

  build() {
    const { facts } = this;
    document.title = `${facts.title} · cardlab`;
    document.body.classList.add("at-table");
    put(this.hintBody, this.hintIntro());
    if (!facts.hints) this.hintButton.setAttribute("aria-disabled", "true");
    const speed = h(
      "select",
      { id: "pace", on: { change: (event) => keep("pace", event.currentTarget.value) } },
      Object.keys(PACES).map((name) =>
        h("option", { value: name, selected: name === recall("pace", "normal") }, name),
      ),
    );
    put(
      this.main,
      h(
        "div",
        { class: "table-page" },
        h(
          "div",
          { class: "table-bar" },
          h("h1", {}, facts.title),
          this.deal.label,
          h(
            "div",
            { class: "bar-tools" },
            this.hintButton,
            button("Log", () => this.toggleLog(), {
              title: "Show or hide the log (L)",
              "aria-keyshortcuts": "l",
              class: "button log-button",
            }),
            h("label", { class: "field-inline" }, h("span", {}, "Speed"), speed),
            button("?", () => showHelp(this.facts), {
              title: "Help (?)",
              "aria-label": "Help",
              class: "button round",
            }),
          ),
        ),
        this.strip,
        this.savingNote,
        h(
          "section",
          { class: "felt", "aria-label": "Table" },
          this.deal.place,
          this.invites,
          this.end,
          this.board,
        ),
        h(
          "aside",
          { class: "side", "aria-label": "Log and hints" },
          this.hintPanel,
          this.logPanel,
          this.seatPanel,
        ),
      ),
    );
  }

  hintIntro() {
    if (!this.facts.hints) return h("p", {}, "Hints are switched off at this table.");
    return [
      h(
        "p",
        {},
        `Press H or “Hint” to ask ${this.facts.adviser ?? "the adviser"}, which sees only your own cards.`,
      ),
      this.alwaysHint(),
    ];
  }

  alwaysHint() {
    const always = h("input", {
      type: "checkbox",
      checked: recall("alwaysHint", false),
      on: {
        change: (event) => {
          keep("alwaysHint", event.currentTarget.checked);
          if (event.currentTarget.checked) this.askHint();
          else this.hintWished = false;
        },
      },
    });
    return h("label", { class: "check" }, always, " hint at every turn");
  }

  // Messages of the server

  /** @param {Page.LineNews} news */
  hear(news) {
    if (news.data) this.take(news.data);
    else if (news.state === "open") this.lineOpen();
    else this.lineEnded(news.state, news.words, news.code);
  }

  /** @param {Wire.ServerMessage} data */
  take(data) {
    if (data.type === "view" || data.type === "gathering" || data.type === "seats") {
      this.setSaving(false); // whatever is shown has been saved
    }
    if (data.type !== "view") put(this.strip); // a view clears it once it is shown
    if (data.type === "view") {
      this.queue.push(data);
      this.drain();
    } else if (data.type === "gathering") {
      this.showGathering(data);
    } else if (data.type === "saving") {
      this.setSaving(true);
    } else if (data.type === "hint") {
      this.showHint(data);
    } else if (data.type === "refused") {
      this.hearRefusal(data);
    } else if (data.type === "thinking") {
      this.board.querySelector(`[data-plate="${data.seat}"]`)?.classList.add("busy");
    } else if (data.type === "solvable") {
      this.solvable = data.words;
      this.redraw();
      announce(data.words);
    } else if (data.type === "seats" && this.deal.gathering) {
      this.showGathering({ ...this.deal.gathering, seats: data.seats });
    } else if (data.type === "seats" && this.shown) {
      const before = this.shown.seats;
      this.shown = { ...this.shown, seats: data.seats };
      this.names = namesOf(data.seats, this.shown.seat);
      data.seats.forEach((person, seat) => {
        if (person.kind === "person" && person.connected !== before[seat]?.connected) {
          announce(`${person.name} ${person.connected ? "has joined the table" : "has left the table"}`);
        }
      });
      this.redraw();
      this.showSeats(this.shown);
    }
  }

  /** @param {Wire.Refused} data */
  hearRefusal(data) {
    const asked = this.hintButton.classList.contains("busy");
    this.hintButton.classList.remove("busy");
    if (data.saving) {
      // The table has moved on already; its new position comes once it has been saved.
      this.hintWished ||= asked;
      this.setSaving(true);
      return;
    }
    this.waiting = false;
    this.sent = -1;
    toast(sentence(data.error), "bad");
    this.redraw();
  }

  /** @param {boolean} on */
  setSaving(on) {
    if (this.saving === on) return;
    this.saving = on;
    const words = this.waiting ? "Saving your move …" : "Saving …";
    put(this.savingNote, on && h("span", {}, h("span", { class: "saving-mark" }), words));
    if (on) this.redraw(); // no card can be played now
  }

  lineOpen() {
    this.setSaving(false); // "Connection lost" stays until the first message: no click counts before
    this.deal.revealed = false;
    this.waiting = true; // for the position, which may have changed
    this.hintAsked = -1; // an answer may have been lost with the connection
  }

  /**
   * @param {"lost" | "final"} name
   * @param {string} words
   * @param {number} [code]
   */
  lineEnded(name, words, code) {
    this.setSaving(false);
    /** @type {HTMLElement[]} */
    const more = [];
    if (code === 4409)
      more.push(button("Play here instead", () => this.line.again(), { class: "button primary" }));
    if (code === 4401) {
      more.push(
        button("Watch without a seat", () => {
          leaveSeat(this.id);
          this.line.again();
        }),
      );
    }
    if (code === 4404) more.push(h("a", { class: "button", href: "/" }, "To the lobby"));
    put(this.strip, h("p", { class: `notice ${name === "final" ? "bad" : ""}` }, words, " ", more));
    if (name === "final") this.arrived();
  }

  // Before the cards are dealt

  /** @param {Wire.Gathering} data */
  showGathering(data) {
    this.waiting = false;
    this.names = namesOf(data.seats, data.seat);
    this.deal.gather(data, this.names, this.line);
    put(this.seatBody, seatList(this.facts, data, this.names, []));
    document.title = `Waiting · ${this.facts.title} · cardlab`;
    this.arrived();
  }

  async drain() {
    if (this.draining) return;
    this.draining = true;
    try {
      while (this.queue.length) {
        const left = this.readyAt - performance.now();
        if (left > 0 && this.queue.length < MOST_QUEUED && pace() > 0) {
          await wait(Math.min(left, pace()));
          continue;
        }
        const view = this.queue.shift();
        if (view) await this.show(view);
      }
    } finally {
      this.draining = false;
    }
  }

  /** @param {Wire.View} view */
  async show(view) {
    const before = this.shown;
    this.shown = view;
    this.names = namesOf(view.seats, view.seat);
    this.waiting = false;
    put(this.strip);
    if (view.version === this.sent) toast("Your last move was not saved; play it again.", "bad");
    this.sent = -1;
    this.deal.begin(view, this.names);
    this.hint = null;
    this.solvable = null;
    for (const close of this.stale.splice(0)) close();
    this.showNews(before, view);
    if (pace() === 0 && this.queue.length) return; // at instant speed only the last view is shown
    put(this.hintBody, this.hintIntro());
    await glide(this.board, before?.description ?? null, view, () => this.redraw());
    const own = view.move && view.move.seat === view.seat;
    this.readyAt = performance.now() + (own || !view.move ? Math.min(OWN_PAUSE, pace()) : pace());
    this.showSeats(view);
    this.showEnd(view);
    document.title = `${this.mine ? "● Your turn · " : ""}${this.facts.title} · cardlab`;
    this.arrived();
    const wished = this.hintWished || recall("alwaysHint", false);
    if (this.mine && wished && this.hintAsked !== view.version) this.askHint();
  }

  /**
   * @param {Wire.View | null} before
   * @param {Wire.View} view
   */
  showNews(before, view) {
    const now = view.description.events;
    const back = before && this.facts.page.undo && now.length < this.events.length; // a move was taken back
    const fresh = back ? [] : added(this.events, now);
    if (back)
      put(
        this.logList,
        now.map((event) => entry(event, this.deck, this.names)),
      );
    else this.logList.append(...fresh.map((event) => entry(event, this.deck, this.names)));
    this.events = now;
    this.news = new Map();
    if (before) {
      for (const event of fresh) {
        if (event.seat === null) continue;
        // A bubble has room for one line: the latest event, after an earlier one if both fit.
        const earlier = this.news.get(event.seat);
        const parts = partsOf(event);
        const both = earlier && { text: `${earlier.text}, ${event.text}`, parts: [...earlier.parts, ", ", ...parts] };
        const fits = both && both.text.length < MOST_LETTERS;
        this.news.set(event.seat, fits ? both : { text: event.text, parts });
      }
    }
    for (const event of before ? fresh : []) {
      const who = event.seat === null ? "" : `${this.names[event.seat]} `;
      if (event.seat !== view.seat || event.seat === null)
        announce(who + spoken(partsOf(event), this.deck, this.names));
    }
    if (view.over) announce(view.over.words);
    else if (view.seat !== null && view.description.to_move === view.seat) announce("Your turn");
    requestAnimationFrame(() => (this.logList.scrollTop = this.logList.scrollHeight));
  }

  get mine() {
    const view = this.shown;
    return Boolean(view && view.seat !== null && view.legal?.length && !view.over && !this.waiting && !this.saving);
  }

  /**
   * @param {Wire.View} view
   * @returns {Page.Context}
   */
  context(view) {
    return {
      view,
      game: this.facts.game,
      deck: this.deck,
      names: this.names,
      news: this.news,
      hint: this.hint,
      order: this.renderer.order,
      seat: view.seat ?? 0,
      watch: view.seat === null,
      replay: false,
      mine: this.mine,
      legal: view.seat !== null && view.legal ? view.legal : [],
      solvable: this.solvable,
      act: (action) => this.act(action),
      send: (message) => this.line.send(message),
      redraw: () => this.redraw(),
      refuse: (card) => {
        if (this.mine) toast(`${capital(cardName(card, this.deck))} cannot be played now; choose a raised card.`);
      },
      onStale: (close) => this.stale.push(close),
      ...measures(this.board),
    };
  }

  redraw() {
    if (this.shown) draw(this.board, this.renderer, this.context(this.shown));
  }

  /** @param {number} action */
  act(action) {
    if (!this.shown || !this.mine || this.queue.length) return;
    this.waiting = true;
    this.sent = this.shown.version;
    if (!this.line.send({ type: "act", version: this.shown.version, action })) {
      this.waiting = false;
      toast("Connection lost; wait until the page has reconnected, then play again.", "bad");
    }
  }

  // Hints, log, help

  askHint() {
    if (!this.facts.hints) toast("Hints are switched off at this table; open a new table with hints.");
    else if (!this.shown || this.shown.seat === null || this.shown.over)
      toast("Hints are only for players, and only during the game.");
    else if (!this.mine) {
      this.hintWished = true;
      toast("The hint comes when it is your turn.");
    } else if (this.line.send({ type: "hint", version: this.shown.version })) {
      this.hintWished = false;
      this.hintAsked = this.shown.version;
      this.hintButton.classList.add("busy");
    }
  }

  /** @param {Wire.Hint} data */
  showHint(data) {
    this.hintButton.classList.remove("busy");
    if (!this.shown || data.version !== this.shown.version) return;
    this.hint = readHint(data);
    put(this.hintBody, hintTable(this.hint, this.deck, this.names), this.alwaysHint());
    this.hintPanel.open = true;
    this.redraw();
    const best = data.values.find((action) => action.id === data.best);
    if (best)
      announce(
        `${data.adviser} advises ${spoken(partsOf(best), this.deck, this.names)}`,
      );
  }

  toggleLog() {
    this.logPanel.open = !this.logPanel.open;
    if (this.logPanel.open) {
      this.logPanel.scrollIntoView({ block: "nearest" });
      this.logList.scrollTop = this.logList.scrollHeight;
      this.logList.focus({ preventScroll: true });
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (!(event.target instanceof Element)) return;
    if (event.target.closest("input, select, textarea, dialog")) return;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (name === "h") this.askHint();
    else if (name === "l") this.toggleLog();
    else if (name === "?") showHelp(this.facts);
    else if (!this.shown || !this.renderer.key?.(this.context(this.shown), name)) return;
    event.preventDefault();
  }

  // Seats and the end

  /** @param {Wire.View} view */
  showSeats(view) {
    const links = tableMemory(this.id).links ?? [];
    put(this.seatBody, seatList(this.facts, view, this.names, links));
    put(this.invites, invitations(this.facts, view, this.names, links));
  }

  /** @param {Wire.View} view */
  showEnd({ over, seat }) {
    if (!over || this.ended) {
      if (!over) put(this.end);
      this.ended = Boolean(over);
      return;
    }
    this.ended = true;
    const setup = tableMemory(this.id).setup;
    const again = setup ? () => this.again(setup) : null;
    put(this.end, resultCard(this.facts, over, seat, this.names, again, this.deal.proof));
    if (over.deal) this.deal.prove(over.deal, seat, this.names);
    const heading = this.end.querySelector("h2");
    heading?.focus({ preventScroll: true });
    heading?.scrollIntoView({ block: "nearest" });
  }

  /** @param {Wire.NewTable} setup */
  async again(setup) {
    try {
      location.assign(await openTable({ ...setup, seed: null }, this.facts.page));
    } catch (error) {
      toast(sentence(reasonOf(error)), "bad");
    }
  }
}


/**
 * @param {string} name
 * @param {string} title
 * @param {HTMLElement} body
 */
function panel(name, title, body) {
  return h(
    "details",
    { class: `panel panel-${name}`, open: name !== "about" && window.innerWidth > 900 },
    h("summary", {}, title),
    h("div", { class: "panel-body" }, body),
  );
}

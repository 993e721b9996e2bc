// The lobby: choose a game, its options and players; continue unfinished games.

import { get } from "./api.js";
import { loadDeck, picture } from "./cards.js";
import { capital, h, put, reasonOf, sentence, toast } from "./dom.js";
import { openTable } from "./open_table.js";
import { keep, ownTables, recall } from "./settings.js";

const ME = "me";
const GUEST = "guest";
const TABLES_SHOWN = 4;
const MOST_COLUMNS = 5;

/**
 * Start the lobby.
 * @param {HTMLElement} main
 */
export async function start(main) {
  document.body.classList.add("in-lobby");
  /** @type {Wire.Game[]} */
  const games = await get("/api/games");
  await Promise.all(games.map((game) => loadDeck(game.page.deck)));
  const lobby = new Lobby(main, games);
  showUnfinished(lobby.unfinished);
}

class Lobby {
  setup = h("div", { class: "setup" });
  unfinished = h("section", { class: "go-on", "aria-label": "Your tables", hidden: true });
  seatList = h("div", { class: "seat-choices" });
  name = h("input", {
    type: "text",
    id: "name",
    maxlength: 24,
    autocomplete: "nickname",
    value: recall("name", ""),
    placeholder: "Guest",
  });
  seed = h("input", {
    type: "text",
    id: "seed",
    inputmode: "numeric",
    pattern: "[0-9]*",
    placeholder: "random",
    "aria-describedby": "about-seed",
  });
  hints = h("input", { type: "checkbox", id: "hints", checked: recall("hints", true) });
  adviser = h("select", { id: "adviser" });
  /** @type {Wire.Options} */
  options = {};
  /** @type {string[]} */
  seats = []; // ME, GUEST or the agent

  /**
   * @param {HTMLElement} main
   * @param {Wire.Game[]} games
   */
  constructor(main, games) {
    const before = recall("game", "");
    const first = games.find((game) => game.name === before) ?? games[0];
    put(
      main,
      h(
        "div",
        { class: "lobby" },
        h("h1", {}, "Choose a game"),
        h(
          "fieldset",
          { class: "games", vars: { "--columns": columns(games.length) } },
          h("legend", { class: "unseen" }, "Game"),
          games.map((game) => this.tile(game, game === first)),
        ),
        this.unfinished,
        this.setup,
      ),
    );
    this.game = first;
    this.choose(first);
  }

  /**
   * @param {Wire.Game} game
   * @param {boolean} checked
   */
  tile(game, checked) {
    return h(
      "label",
      { class: "tile", data: { game: game.name } },
      h("input", {
        type: "radio",
        name: "game",
        value: game.name,
        checked,
        on: { change: () => this.choose(game) },
      }),
      h(
        "span",
        { class: "tile-cards", "aria-hidden": "true" },
        game.cards.map((card, place) => {
          const image = picture(card, game.page.deck);
          image.style.setProperty("--i", String(place - 1));
          return image;
        }),
      ),
      h("span", { class: "tile-name" }, game.title),
      h(
        "span",
        { class: "tile-what" },
        `${capital(game.summary)}.`,
      ),
    );
  }

  /** @param {Wire.Game} game */
  choose(game) {
    this.game = game;
    keep("game", game.name);
    this.options = {
      ...Object.fromEntries(game.options.map((option) => [option.name, option.default])),
      ...recall(`options.${game.name}`, {}),
    };
    const many = Number(this.options.seats ?? game.seats[0]);
    this.seats = recall(`seats.${game.name}`, [ME]);
    this.fillSeats(many);
    this.draw();
  }

  get known() {
    return new Set(this.game.agents.map((agent) => agent.spec));
  }

  /** @param {number} many */
  fillSeats(many) {
    const { adviser, levels } = this.game;
    const usual =
      ["heuristic", levels[0]?.agent, adviser].find((spec) => this.known.has(spec ?? "")) ?? "random";
    const valid = (/** @type {string} */ spec) => spec === ME || spec === GUEST || this.known.has(spec);
    this.seats = Array.from({ length: many }, (_, seat) =>
      valid(this.seats[seat]) ? this.seats[seat] : seat === 0 ? ME : usual,
    );
  }

  draw() {
    const { game } = this;
    const advisers = game.agents.filter((agent) => !agent.open);
    const valued = advisers.filter((agent) => agent.values);
    const usual = recall(`adviser.${game.name}`, "");
    this.seed.value = "";
    put(
      this.adviser,
      h("option", { value: "" }, `default: ${game.adviser}`),
      h(
        "optgroup",
        { label: "gives a value for each action" },
        valued.map((agent) =>
          h(
            "option",
            { value: agent.spec, selected: agent.spec === usual },
            agent.spec + (agent.attention ? " (with attention)" : ""),
          ),
        ),
      ),
      h(
        "optgroup",
        { label: "names the best action only" },
        advisers
          .filter((agent) => !agent.values)
          .map((agent) => h("option", { value: agent.spec, selected: agent.spec === usual }, agent.spec)),
      ),
    );
    this.drawSeats();
    const shown = game.options;
    const deal = h("button", { type: "submit", class: "button primary deal" }, "Deal the cards");
    const form = h(
      "form",
      {
        class: "setup-form",
        novalidate: true,
        on: { submit: (event) => this.submit(event, deal) },
      },
      h(
        "div",
        { class: "setup-column" },
        h("h2", {}, "Players"),
        h("div", { class: "row" }, h("label", { for: "name" }, "Your name"), this.name),
        this.seatList,
      ),
      h(
        "div",
        { class: "setup-column" },
        h("h2", {}, "Rules"),
        shown.length
          ? shown.map((option) => this.option(option))
          : h("p", { class: "small" }, "This game has no options."),
        h(
          "div",
          { class: "row" },
          h("label", { for: "seed" }, game.page.numbered_deals ? "Deal number" : "Seed"),
          h(
            "div",
            {},
            this.seed,
            h("p", { class: "small about", id: "about-seed" }, seedWords(game)),
          ),
        ),
      ),
      h(
        "div",
        { class: "setup-column" },
        h("h2", {}, "Hints"),
        h("label", { class: "check" }, this.hints, " allow hints"),
        h("div", { class: "row" }, h("label", { for: "adviser" }, "Adviser"), this.adviser),
        h("p", { class: "small" }, "The adviser sees only your own cards."),
      ),
      deal,
    );
    put(this.setup, form);
  }

  drawSeats() {
    const { game } = this;
    const solo = this.seats.length === 1;
    put(
      this.seatList,
      this.seats.map((chosen, seat) => {
        const id = `seat-${seat}`;
        const about = h("p", { class: "small about" });
        const select = h(
          "select",
          { id },
          h("option", { value: ME, selected: chosen === ME }, "me"),
          solo
            ? null
            : h("option", { value: GUEST, selected: chosen === GUEST }, "another person, by link"),
          h(
            "optgroup",
            { label: "agents" },
            game.agents
              .filter((agent) => !agent.open)
              .map((agent) =>
                h("option", { value: agent.spec, selected: chosen === agent.spec }, agent.spec),
              ),
          ),
          h(
            "optgroup",
            { label: "agents that see all cards" },
            game.agents
              .filter((agent) => agent.open)
              .map((agent) =>
                h("option", { value: agent.spec, selected: chosen === agent.spec }, agent.spec),
              ),
          ),
        );
        const show = () => {
          const agent = game.agents.find((entry) => entry.spec === this.seats[seat]);
          about.textContent = agent
            ? `${agent.what}${strength(agent)}`
            : this.seats[seat] === GUEST
              ? "you get a link; whoever opens it takes the seat"
              : "";
        };
        select.addEventListener("change", () => {
          if (select.value === ME)
            this.seats = this.seats.map((who, k) => (who === ME && k !== seat ? GUEST : who));
          this.seats[seat] = select.value;
          if (select.value === ME) this.drawSeats();
          else show();
        });
        show();
        return h(
          "div",
          { class: "row" },
          h("label", { for: id }, solo ? "Who plays" : `Seat ${seat + 1}`),
          h("div", {}, select, about),
        );
      }),
    );
  }

  /** @param {Wire.Option} option */
  option(option) {
    const id = `option-${option.name}`;
    const value = this.options[option.name];
    const set = (/** @type {Wire.OptionValue} */ given) => {
      this.options[option.name] = given;
      if (option.name === "seats") {
        this.fillSeats(Number(given));
        this.drawSeats();
      }
    };
    const title = option.name.replaceAll("_", " ");
    const label = capital(title);
    if (option.kind === "bool") {
      return h(
        "label",
        { class: "check" },
        h("input", {
          type: "checkbox",
          id,
          checked: Boolean(value),
          on: { change: (event) => set(event.currentTarget.checked) },
        }),
        ` ${label}`,
        h("span", { class: "small" }, ` ${option.help}`),
      );
    }
    const all = option.kind === "range" ? numbers(option.allowed) : option.allowed;
    return h(
      "div",
      { class: "row" },
      h("label", { for: id }, label),
      h(
        "div",
        {},
        h(
          "select",
          { id, on: { change: (event) => set(all[event.currentTarget.selectedIndex]) } },
          all.map((it) => h("option", { selected: it === value }, String(it))),
        ),
        h("p", { class: "small about" }, option.help),
      ),
    );
  }

  /**
   * @param {Event} event
   * @param {HTMLButtonElement} deal
   */
  async submit(event, deal) {
    event.preventDefault();
    const { game } = this;
    const seedText = this.seed.value.trim();
    if (seedText && !/^\d{1,15}$/.test(seedText)) {
      toast(
        `The ${game.page.numbered_deals ? "deal number" : "seed"} must be a whole number of at most 15 digits, got “${seedText}”; leave it empty for a random deal.`,
        "bad",
      );
      this.seed.focus();
      return;
    }
    const name = this.name.value.trim();
    keep("name", name);
    keep("hints", this.hints.checked);
    keep(`seats.${game.name}`, this.seats);
    keep(`options.${game.name}`, this.options);
    keep(`adviser.${game.name}`, this.adviser.value);
    const person = (/** @type {string} */ who) =>
      who === ME
        ? { person: name || "Guest" }
        : who === GUEST
          ? { person: null }
          : { agent: who };
    const setup = {
      game: game.name,
      options: this.options,
      seats: this.seats.map(person),
      seed: seedText ? Number(seedText) : null,
      hints: this.hints.checked,
      adviser: this.adviser.value || null,
    };
    deal.classList.add("busy");
    deal.textContent = "Dealing …";
    try {
      location.assign(await openTable(setup, game.page, this.seats.indexOf(ME)));
    } catch (error) {
      toast(sentence(reasonOf(error)), "bad");
      deal.classList.remove("busy");
      deal.textContent = "Deal the cards";
    }
  }
}

/** @param {{ from: number, to: number }} bounds */
const numbers = ({ from, to }) => Array.from({ length: to - from + 1 }, (_, k) => from + k);

/**
 * Return the number of columns of tiles, so that rows have about the same length.
 * @param {number} many
 */
const columns = (many) => Math.ceil(many / Math.ceil(many / MOST_COLUMNS));

/** @param {Wire.Game} game */
const seedWords = (game) =>
  game.page.numbered_deals
    ? "the same number gives the same deal; empty: a random one"
    : "empty: random cards that nobody can choose; with a seed the same cards again, and all players see “Deal chosen by the host”";

/** @param {Wire.Agent} agent */
const strength = ({ strength: text }) =>
  text ? `; score ${text.replace(" (", " % against heuristic (")}` : "";

/** @param {HTMLElement} place */
async function showUnfinished(place) {
  const tables = ownTables().slice(0, TABLES_SHOWN);
  /** @type {(Wire.Table | null)[]} */
  const facts = await Promise.all(
    tables.map((entry) => get(`/api/tables/${entry.id}`).catch(() => null)),
  );
  const found = facts.flatMap((table) => (table && !table.over ? table : []));
  if (!found.length) return;
  place.hidden = false;
  put(
    place,
    h("h2", {}, "Continue playing"),
    h(
      "div",
      { class: "go-on-list" },
      found.map((table) =>
        h(
          "a",
          { class: "button", href: `/table/${table.id}` },
          `${table.title} · ${table.seats.map((seat) => seat.name ?? "a free seat").join(", ")} · move ${table.ply}`,
        ),
      ),
    ),
  );
}

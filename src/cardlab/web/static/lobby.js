// The lobby: choose a game, its options, who sits where; go on with games that are not over.

import { get } from "./api.js";
import { picture } from "./cards.js";
import { h, put, toast } from "./dom.js";
import { openTable } from "./open_table.js";
import { keep, ownTables, recall } from "./settings.js";

const SAMPLES = {
  crazy_eights: ["QD", "8H", "8S"],
  uno: ["R7", "BR", "W"],
  birds_of_a_feather: ["KC", "KS", "QS"],
  koi_koi: ["3-curtain", "8-moon", "1-crane"],
  cribbage: ["5H", "5D", "JS"],
};
const ME = "me";
const GUEST = "guest";
const TABLES_SHOWN = 4;
const MOST_COLUMNS = 5;

/** Start the lobby. */
export async function start(main) {
  document.body.classList.add("in-lobby");
  const games = await get("/api/games");
  new Lobby(main, games);
  unfinished(main.querySelector(".go-on"));
}

class Lobby {
  constructor(main, games) {
    this.games = games;
    this.setup = h("div", { class: "setup" });
    const before = recall("game");
    const first = games.find((one) => one.name === before) ?? games[0];
    put(
      main,
      h(
        "div",
        { class: "lobby" },
        h("h1", {}, "Pick a game"),
        h(
          "fieldset",
          { class: "games", vars: { "--columns": columns(games.length) } },
          h("legend", { class: "unseen" }, "Game"),
          games.map((game) => this.tile(game, game === first)),
        ),
        h("section", { class: "go-on", "aria-label": "Your tables", hidden: true }),
        this.setup,
      ),
    );
    this.choose(first);
  }

  tile(game, checked) {
    const cards = SAMPLES[game.name] ?? game.cards;
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
        cards.map((card, place) => {
          const image = picture(card, game.deck);
          image.style.setProperty("--i", String(place - 1));
          return image;
        }),
      ),
      h("span", { class: "tile-name" }, game.title),
      h(
        "span",
        { class: "tile-what" },
        `${game.summary[0].toUpperCase()}${game.summary.slice(1)}.`,
      ),
    );
  }

  choose(game) {
    this.game = game;
    keep("game", game.name);
    this.options = {
      ...Object.fromEntries(game.options.map((one) => [one.name, one.default])),
      ...recall(`options.${game.name}`, {}),
    };
    const many = this.options.seats ?? game.seats[0];
    this.seats = recall(`seats.${game.name}`, [ME]);
    this.fillSeats(many);
    this.draw();
  }

  get known() {
    return new Set(this.game.agents.map((one) => one.spec));
  }

  fillSeats(many) {
    const usual = ["heuristic", this.game.adviser].find((one) => this.known.has(one)) ?? "random";
    const valid = (one) => one === ME || one === GUEST || this.known.has(one);
    this.seats = Array.from({ length: many }, (_, seat) =>
      valid(this.seats[seat]) ? this.seats[seat] : seat === 0 ? ME : usual,
    );
  }

  draw() {
    const { game } = this;
    const advisers = game.agents.filter((one) => !one.open);
    const valued = advisers.filter((one) => one.values);
    const usual = recall(`adviser.${game.name}`) ?? "";
    this.name = h("input", {
      type: "text",
      id: "name",
      maxlength: 24,
      autocomplete: "nickname",
      value: recall("name", ""),
      placeholder: "A guest",
    });
    this.seed = h("input", {
      type: "text",
      id: "seed",
      inputmode: "numeric",
      pattern: "[0-9]*",
      placeholder: "a fresh deal",
    });
    this.hints = h("input", { type: "checkbox", id: "hints", checked: recall("hints", true) });
    this.adviser = h(
      "select",
      { id: "adviser" },
      h("option", { value: "" }, `usual: ${game.adviser.split(":")[0]}`),
      h(
        "optgroup",
        { label: "values for each action" },
        valued.map((one) =>
          h(
            "option",
            { value: one.spec, selected: one.spec === usual },
            one.spec + (one.attention ? " (with attention)" : ""),
          ),
        ),
      ),
      h(
        "optgroup",
        { label: "its choice only" },
        advisers
          .filter((one) => !one.values)
          .map((one) => h("option", { value: one.spec, selected: one.spec === usual }, one.spec)),
      ),
    );
    this.seatList = h("div", { class: "seat-choices" });
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
        h("h2", {}, "At the table"),
        h("div", { class: "row" }, h("label", { for: "name" }, "Your name"), this.name),
        this.seatList,
      ),
      h(
        "div",
        { class: "setup-column" },
        h("h2", {}, "Rules"),
        shown.length
          ? shown.map((one) => this.option(one))
          : h("p", { class: "small" }, "This game has no variants."),
        h(
          "div",
          { class: "row" },
          h("label", { for: "seed" }, game.name === "birds_of_a_feather" ? "Deal number" : "Seed"),
          this.seed,
        ),
      ),
      h(
        "div",
        { class: "setup-column" },
        h("h2", {}, "Hints"),
        h("label", { class: "check" }, this.hints, " allow hints at this table"),
        h("div", { class: "row" }, h("label", { for: "adviser" }, "Adviser"), this.adviser),
        h("p", { class: "small" }, "An adviser sees only what you see."),
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
              .filter((one) => !one.open)
              .map((one) =>
                h("option", { value: one.spec, selected: chosen === one.spec }, one.spec),
              ),
          ),
          h(
            "optgroup",
            { label: "agents that see all cards" },
            game.agents
              .filter((one) => one.open)
              .map((one) =>
                h("option", { value: one.spec, selected: chosen === one.spec }, one.spec),
              ),
          ),
        );
        const show = () => {
          const agent = game.agents.find((one) => one.spec === this.seats[seat]);
          about.textContent = agent
            ? `${agent.what}${strength(agent)}`
            : this.seats[seat] === GUEST
              ? "you get a link to send"
              : "";
        };
        select.addEventListener("change", () => {
          if (select.value === ME)
            this.seats = this.seats.map((one, k) => (one === ME && k !== seat ? GUEST : one));
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

  option(one) {
    const id = `option-${one.name}`;
    const value = this.options[one.name];
    const set = (given) => {
      this.options[one.name] = given;
      if (one.name === "seats") {
        this.fillSeats(given);
        this.drawSeats();
      }
    };
    const title = one.name.replaceAll("_", " ");
    const label = title[0].toUpperCase() + title.slice(1);
    if (one.kind === "bool") {
      return h(
        "label",
        { class: "check" },
        h("input", {
          type: "checkbox",
          id,
          checked: value,
          on: { change: (event) => set(event.target.checked) },
        }),
        ` ${label}`,
        h("span", { class: "small" }, ` ${one.help}`),
      );
    }
    const all =
      one.kind === "range"
        ? Array.from(
            { length: one.allowed.to - one.allowed.from + 1 },
            (_, k) => one.allowed.from + k,
          )
        : one.allowed;
    return h(
      "div",
      { class: "row" },
      h("label", { for: id }, label),
      h(
        "div",
        {},
        h(
          "select",
          { id, on: { change: (event) => set(all[event.target.selectedIndex]) } },
          all.map((it) => h("option", { selected: it === value }, String(it))),
        ),
        h("p", { class: "small about" }, one.help),
      ),
    );
  }

  async submit(event, deal) {
    event.preventDefault();
    const { game } = this;
    const seedText = this.seed.value.trim();
    if (seedText && !/^\d{1,15}$/.test(seedText)) {
      toast(
        "A seed is a whole number of at most 15 digits; leave it empty for a fresh deal.",
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
    const person = (one) =>
      one === ME
        ? { person: name || "A guest" }
        : one === GUEST
          ? { person: null }
          : { agent: one };
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
      location.assign(await openTable(setup, this.seats.indexOf(ME)));
    } catch (error) {
      toast(error.message[0].toUpperCase() + error.message.slice(1), "bad");
      deal.classList.remove("busy");
      deal.textContent = "Deal the cards";
    }
  }
}

/** Return how many tiles stand side by side, so that rows are about equally long. */
const columns = (many) => Math.ceil(many / Math.ceil(many / MOST_COLUMNS));

function strength(agent) {
  const found = agent.strength;
  if (found === null || found === undefined) return "";
  const text = typeof found === "object" ? (found.text ?? found.words ?? null) : String(found);
  return text ? `; scores ${text.replace(" (", " % against random (")}` : "";
}

async function unfinished(place) {
  const tables = ownTables().slice(0, TABLES_SHOWN);
  const found = (
    await Promise.all(tables.map((one) => get(`/api/tables/${one.id}`).catch(() => null)))
  ).filter((one) => one && !one.over);
  if (!found.length) return;
  place.hidden = false;
  put(
    place,
    h("h2", {}, "Go on playing"),
    h(
      "div",
      { class: "go-on-list" },
      found.map((one) =>
        h(
          "a",
          { class: "button", href: `/table/${one.id}` },
          `${one.title} · ${one.seats.map((seat) => seat.name ?? "a free seat").join(", ")} · move ${one.ply}`,
        ),
      ),
    ),
  );
}

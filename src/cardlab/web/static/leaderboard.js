// The leaderboard: ratings with intervals, cross-tables, people against agents, games to watch.

import { get } from "./api.js";
import { button, count, h, isolated, put } from "./dom.js";

/**
 * Start the leaderboard.
 * @param {HTMLElement} main
 */
export async function start(main) {
  const chosen = new URLSearchParams(location.search).get("game");
  const page = h("div", { class: "page" }, h("h1", {}, "Leaderboard"));
  put(main, page);
  const tabs = h("div", { class: "tabs", role: "group", "aria-label": "Game" });
  const boards = h("div", { class: "boards" }, h("p", { class: "empty-note" }, "Counting …"));
  const people = h("section", { class: "sheet", "aria-label": "People against agents" });
  const recent = h("section", { class: "sheet", "aria-label": "Games to watch" });
  page.append(tabs, boards, people, recent);
  /** @type {[Wire.Game[], Wire.Leaderboard, Wire.People[], Wire.Recent[]]} */
  const [games, standings, results, played] = await Promise.all([
    get("/api/games"),
    get("/api/leaderboard"),
    get("/api/people"),
    get("/api/games/recent"),
  ]);
  const titles = Object.fromEntries(games.map((one) => [one.name, one.title]));
  const choices = [["", "All games"], ...Object.entries(titles)].map(([name, title]) => ({
    name,
    tab: button(title, () => show(name), { data: { game: name }, "aria-pressed": "false" }),
  }));
  const show = (/** @type {string} */ name) => {
    for (const one of choices) one.tab.setAttribute("aria-pressed", String(one.name === name));
    history.replaceState(null, "", name ? `?game=${name}` : location.pathname);
    const wanted = (/** @type {{ game: string }} */ one) => !name || one.game === name;
    const found = standings.boards.filter(wanted);
    put(
      boards,
      found.length
        ? found.map((board) => sheet(board, standings.tables, titles))
        : h(
            "div",
            { class: "sheet" },
            h(
              "p",
              { class: "empty-note" },
              `No tournament ${name ? `of ${titles[name]} ` : ""}is in the store yet. Play one with `,
              h("code", {}, `cardlab tournament ${example(games, name)}`),
              ".",
            ),
          ),
    );
    put(people, peopleTable(results.filter(wanted), titles));
    put(recent, recentTable(played.filter(wanted)));
  };
  put(
    tabs,
    choices.map((one) => one.tab),
  );
  show(chosen && titles[chosen] ? chosen : "");
}

/**
 * Return a game as the command line calls it, and two agents that play it.
 * @param {Wire.Game[]} games
 * @param {string} name
 */
function example(games, name) {
  const game = games.find((one) => one.name === name) ?? games[0];
  const strong = game.agents.find((one) => one.spec === "heuristic")?.spec ?? game.adviser;
  return `${game.command} random ${strong}`;
}

/** @param {string | null} when */
const day = (when) => (when ? when.slice(0, 16).replace("T", " ") : "a table");

/** @param {number | null} value */
const whole = (value) => (value === null ? "∞" : Math.round(value));

/**
 * @param {Wire.Board} board
 * @param {Wire.CrossTable[]} tables
 * @param {Record<string, string>} titles
 */
function sheet(board, tables, titles) {
  const same = (/** @type {Wire.CrossTable} */ one) =>
    one.game === board.game && JSON.stringify(one.options) === JSON.stringify(board.options);
  const table = tables.find(same);
  const ends = board.ratings
    .flatMap((one) => [one.elo, ...(one.interval ?? [])])
    .flatMap((one) => one ?? []);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const at = (/** @type {number} */ value) => (value - low) / (high - low || 1);
  const options = Object.entries(board.options)
    .map(
      ([name, value]) =>
        `${name.replaceAll("_", " ")} ${value === true ? "yes" : value === false ? "no" : value}`,
    )
    .join(", ");
  return h(
    "section",
    { class: "sheet", "aria-label": titles[board.game] ?? board.game },
    h("h2", {}, titles[board.game] ?? board.game),
    h(
      "p",
      { class: "small" },
      `${options ? `${options} · ` : ""}${board.games.toLocaleString("en")} games on ${board.deals.toLocaleString("en")} deals in ${count(board.tournaments, "tournament")}; brackets are 95 % intervals; agents that share a letter cannot be told apart.`,
    ),
    h(
      "div",
      {
        class: "scroll",
        tabindex: "0",
        role: "region",
        "aria-label": `Ratings of ${titles[board.game]}`,
      },
      h(
        "table",
        { class: "data" },
        h("caption", { class: "unseen" }, "Ratings"),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["rank", "agent", "rating", "95 % interval", "", "group"].map((one, k) =>
              h(
                one ? "th" : "td",
                { scope: one ? "col" : null, class: k === 2 ? "figure" : null },
                one,
              ),
            ),
          ),
        ),
        h(
          "tbody",
          {},
          board.ratings.map((one) =>
            h(
              "tr",
              {},
              h(
                "td",
                {},
                one.rank[0] === one.rank[1] ? String(one.rank[0]) : `${one.rank[0]}–${one.rank[1]}`,
              ),
              h("th", { scope: "row" }, one.agent),
              h("td", { class: "figure" }, h("strong", {}, String(Math.round(one.elo)))),
              h(
                "td",
                {},
                one.interval
                  ? `[${one.interval[0] === null ? "−∞" : whole(one.interval[0])}, ${whole(one.interval[1])}]`
                  : "too few deals",
              ),
              h(
                "td",
                {},
                one.interval
                  ? h(
                      "span",
                      {
                        class: "interval",
                        "aria-hidden": "true",
                        vars: {
                          "--low": at(one.interval[0] ?? low),
                          "--high": at(one.interval[1] ?? high),
                          "--at": at(one.elo),
                        },
                      },
                      h("span", {}),
                      h("b", {}),
                    )
                  : null,
              ),
              h("td", {}, one.groups),
            ),
          ),
        ),
      ),
    ),
    table ? cross(table, titles) : null,
  );
}

/**
 * @param {Wire.CrossTable} table
 * @param {Record<string, string>} titles
 */
function cross(table, titles) {
  const cell = (/** @type {string} */ one, /** @type {string} */ other) =>
    table.cells.find((it) => it.agent === one && it.other === other);
  return [
    h("h3", {}, `Cross-table of ${table.tournament}`),
    h(
      "div",
      {
        class: "scroll",
        tabindex: "0",
        role: "region",
        "aria-label": `Cross-table of ${titles[table.game]}`,
      },
      h(
        "table",
        { class: "data cross" },
        h(
          "caption",
          { class: "unseen" },
          "Score in percent of the row’s agent against the column’s",
        ),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, "score in %"),
            table.ranking.map((one) => h("th", { scope: "col", class: "figure" }, one)),
          ),
        ),
        h(
          "tbody",
          {},
          table.ranking.map((one) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, one),
              table.ranking.map((other) => {
                const found = cell(one, other);
                if (!found) return h("td", { class: "figure" }, "·");
                const half = found.interval ? (found.interval[1] - found.interval[0]) * 50 : null;
                return h(
                  "td",
                  { class: "figure", title: `${found.games} games` },
                  (100 * found.share).toFixed(1),
                  half === null ? null : h("small", {}, ` ± ${half.toFixed(1)}`),
                );
              }),
            ),
          ),
        ),
      ),
    ),
  ];
}

/**
 * @param {Wire.People[]} rows
 * @param {Record<string, string>} titles
 */
function peopleTable(rows, titles) {
  const head = h("h2", {}, "People against agents");
  if (!rows.length)
    return [
      head,
      h(
        "p",
        { class: "empty-note" },
        "Nobody has finished a game here yet. ",
        h("a", { href: "/" }, "Be the first"),
        ".",
      ),
    ];
  return [
    head,
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Scores of people" },
      h(
        "table",
        { class: "data" },
        h("caption", { class: "unseen" }, "Scores of people"),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["game", "against", "hints", "games", "score in %", "95 % interval", ""].map((one) =>
              h(one ? "th" : "td", { scope: one ? "col" : null }, one),
            ),
          ),
        ),
        h(
          "tbody",
          {},
          rows.map((one) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, titles[one.game] ?? one.game),
              h("td", {}, one.agent ?? "the deal"),
              h("td", {}, one.hints ? "allowed" : "no"),
              h("td", { class: "figure" }, String(one.games)),
              h("td", { class: "figure" }, h("strong", {}, one.score.toFixed(0))),
              h("td", {}, `[${one.interval[0].toFixed(0)}, ${one.interval[1].toFixed(0)}]`),
              h(
                "td",
                {},
                h(
                  "span",
                  {
                    class: "interval",
                    "aria-hidden": "true",
                    vars: {
                      "--low": one.interval[0] / 100,
                      "--high": one.interval[1] / 100,
                      "--at": one.score / 100,
                    },
                  },
                  h("span", {}),
                  h("b", {}),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
  ];
}

/** @param {Wire.Recent[]} rows */
function recentTable(rows) {
  const head = h("h2", {}, "Games to watch");
  if (!rows.length) return [head, h("p", { class: "empty-note" }, "No finished games yet.")];
  return [
    head,
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "List of games" },
      h(
        "table",
        { class: "data" },
        h("caption", { class: "unseen" }, "Recent games"),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["game", "seats and points", "from"].map((one) => h("th", { scope: "col" }, one)),
          ),
        ),
        h(
          "tbody",
          {},
          rows
            .slice(0, 20)
            .map((one) =>
              h(
                "tr",
                {},
                h("th", { scope: "row" }, h("a", { href: `/replay/${one.id}` }, one.title)),
                h(
                  "td",
                  {},
                  one.seats.map((name, seat) => `${isolated(name)} ${one.points?.[seat] ?? ""}`).join(" · "),
                ),
                h("td", {}, one.kind === "table" ? day(one.when) : one.when),
              ),
            ),
        ),
      ),
    ),
  ];
}

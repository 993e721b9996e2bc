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
  const boards = h("div", { class: "boards" }, h("p", { class: "empty-note" }, "Computing ratings …"));
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
  const titles = Object.fromEntries(games.map((game) => [game.name, game.title]));
  const choices = [["", "All games"], ...Object.entries(titles)].map(([name, title]) => ({
    name,
    tab: button(title, () => show(name), { data: { game: name }, "aria-pressed": "false" }),
  }));
  const show = (/** @type {string} */ name) => {
    for (const choice of choices) choice.tab.setAttribute("aria-pressed", String(choice.name === name));
    history.replaceState(null, "", name ? `?game=${name}` : location.pathname);
    const wanted = (/** @type {{ game: string }} */ row) => !name || row.game === name;
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
              `No tournament ${name ? `of ${titles[name]} ` : ""}has been played yet. Run one with `,
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
    choices.map((choice) => choice.tab),
  );
  show(chosen && titles[chosen] ? chosen : "");
}

/**
 * Return a game's name on the command line, and two agents that play it.
 * @param {Wire.Game[]} games
 * @param {string} name
 */
function example(games, name) {
  const game = games.find((entry) => entry.name === name) ?? games[0];
  const strong = game.agents.find((agent) => agent.spec === "heuristic")?.spec ?? game.adviser;
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
  const same = (/** @type {Wire.CrossTable} */ candidate) =>
    candidate.game === board.game && JSON.stringify(candidate.options) === JSON.stringify(board.options);
  const table = tables.find(same);
  const ends = board.ratings
    .flatMap((rating) => [rating.elo, ...(rating.interval ?? [])])
    .flatMap((bound) => bound ?? []);
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
      `${options ? `${options} · ` : ""}${board.games.toLocaleString("en")} games on ${board.deals.toLocaleString("en")} deals in ${count(board.tournaments, "tournament")}; Elo 0 is the mean of these agents; brackets are 95 % intervals; between agents that share a letter there is no significant difference at this sample size.`,
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
            ["rank", "agent", "rating", "95 % interval", "", "group"].map((heading, k) =>
              h(
                heading ? "th" : "td",
                { scope: heading ? "col" : null, class: k === 2 ? "figure" : null },
                heading,
              ),
            ),
          ),
        ),
        h(
          "tbody",
          {},
          board.ratings.map((rating) =>
            h(
              "tr",
              {},
              h(
                "td",
                {},
                rating.rank[0] === rating.rank[1] ? String(rating.rank[0]) : `${rating.rank[0]}–${rating.rank[1]}`,
              ),
              h("th", { scope: "row" }, rating.agent),
              h("td", { class: "figure" }, h("strong", {}, String(Math.round(rating.elo)))),
              h(
                "td",
                {},
                rating.interval
                  ? `[${rating.interval[0] === null ? "−∞" : whole(rating.interval[0])}, ${whole(rating.interval[1])}]`
                  : "not enough deals",
              ),
              h(
                "td",
                {},
                rating.interval
                  ? h(
                      "span",
                      {
                        class: "interval",
                        "aria-hidden": "true",
                        vars: {
                          "--low": at(rating.interval[0] ?? low),
                          "--high": at(rating.interval[1] ?? high),
                          "--at": at(rating.elo),
                        },
                      },
                      h("span", {}),
                      h("b", {}),
                    )
                  : null,
              ),
              h("td", {}, rating.groups),
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
  const cell = (/** @type {string} */ agent, /** @type {string} */ other) =>
    table.cells.find((it) => it.agent === agent && it.other === other);
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
          "Score of the agent in the row against the agent in the column, in percent",
        ),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, "score in %"),
            table.ranking.map((agent) => h("th", { scope: "col", class: "figure" }, agent)),
          ),
        ),
        h(
          "tbody",
          {},
          table.ranking.map((agent) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, agent),
              table.ranking.map((other) => {
                const found = cell(agent, other);
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
        "No person has finished a game here yet. ",
        h("a", { href: "/" }, "Play the first one"),
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
            ["game", "against", "hints", "games", "score in %", "95 % interval", ""].map((heading) =>
              h(heading ? "th" : "td", { scope: heading ? "col" : null }, heading),
            ),
          ),
        ),
        h(
          "tbody",
          {},
          rows.map((row) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, titles[row.game] ?? row.game),
              h("td", {}, row.agent ?? "the deal"),
              h("td", {}, row.hints ? "allowed" : "no"),
              h("td", { class: "figure" }, String(row.games)),
              h("td", { class: "figure" }, h("strong", {}, row.score.toFixed(0))),
              h("td", {}, `[${row.interval[0].toFixed(0)}, ${row.interval[1].toFixed(0)}]`),
              h(
                "td",
                {},
                h(
                  "span",
                  {
                    class: "interval",
                    "aria-hidden": "true",
                    vars: {
                      "--low": row.interval[0] / 100,
                      "--high": row.interval[1] / 100,
                      "--at": row.score / 100,
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
            ["game", "seats and points", "from"].map((heading) => h("th", { scope: "col" }, heading)),
          ),
        ),
        h(
          "tbody",
          {},
          rows
            .slice(0, 20)
            .map((row) =>
              h(
                "tr",
                {},
                h("th", { scope: "row" }, h("a", { href: `/replay/${row.id}` }, row.title)),
                h(
                  "td",
                  {},
                  row.seats.map((name, seat) => `${isolated(name)} ${row.points?.[seat] ?? ""}`).join(" · "),
                ),
                h("td", {}, row.kind === "table" ? day(row.when) : row.when),
              ),
            ),
        ),
      ),
    ),
  ];
}

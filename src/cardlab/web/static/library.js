// The library: reports on the papers, and learning curves of shipped models.

import { get } from "./api.js";
import { lineChart } from "./charts.js";
import { h, put } from "./dom.js";

const CURVES = "curves";

/**
 * Start the library.
 * @param {HTMLElement} main
 */
export async function start(main) {
  /** @type {Wire.Library} */
  const library = await get("/api/library");
  const path = decodeURIComponent(location.pathname.split("/")[2] ?? "");
  const shown = path || library.papers[0]?.name || CURVES;
  const paper = h("article", { class: "paper" });
  const shelf = h(
    "nav",
    { class: "shelf", "aria-label": "Reports" },
    library.papers.map((known) => entry(known.name, known.game, known.name === shown)),
    library.curves.length ? entry(CURVES, "Learning curves", shown === CURVES) : null,
  );
  put(main, h("div", { class: "library-page" }, shelf, paper));
  if (shown === CURVES) {
    document.title = "Learning curves · cardlab";
    put(paper, h("h1", {}, "Learning curves of the shipped models"), library.curves.map(curve));
    return;
  }
  /** @type {Wire.Report} */
  const report = await get(`/api/library/${encodeURIComponent(shown)}`);
  document.title = `${report.title} · cardlab`;
  // The server renders our own reports without inline HTML, and the policy of the page runs no script.
  // eslint-disable-next-line no-restricted-properties
  paper.innerHTML = report.html;
  for (const table of paper.querySelectorAll("table")) {
    const frame = h("div", {
      class: "scroll",
      tabindex: "0",
      role: "region",
      "aria-label": "Table",
    });
    table.replaceWith(frame);
    frame.append(table);
  }
  for (const block of paper.querySelectorAll("pre")) block.tabIndex = 0;
  [...paper.querySelectorAll(".scroll")].forEach((frame, place) =>
    frame.setAttribute("aria-label", `Table ${place + 1}`),
  );
  if (!paper.querySelector("h1")) paper.prepend(h("h1", {}, report.title));
}

/**
 * @param {string} name
 * @param {string} title
 * @param {boolean} here
 */
const entry = (name, title, here) =>
  h("a", { href: `/library/${name}`, "aria-current": here ? "page" : null }, title);

/** @param {Wire.Curve} model */
function curve(model) {
  return h(
    "section",
    {},
    h("h2", {}, model.name.replaceAll("_", " ")),
    model.command ? h("p", { class: "small" }, h("code", {}, model.command)) : null,
    h(
      "div",
      { class: "curves" },
      model.series.map((it) => lineChart(it.points, { title: it.title, unit: model.unit })),
    ),
  );
}

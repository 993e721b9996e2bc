// Starts the page named by the HTML document, and the theme switch in the header.

import { h, put, reasonOf, sentence } from "./dom.js";
import { setTheme, theme } from "./settings.js";

/** @type {Record<string, () => Promise<{ start: (main: HTMLElement) => Promise<void> }>>} */
const PAGES = {
  lobby: () => import("./lobby.js"),
  table: () => import("./table.js"),
  replay: () => import("./replay.js"),
  leaderboard: () => import("./leaderboard.js"),
  library: () => import("./library.js"),
};

function themeSwitch() {
  const toggle = h("button", { type: "button", class: "icon-button", id: "theme" });
  const show = () => {
    const dark = theme() === "dark";
    toggle.textContent = dark ? "☀" : "☾";
    const label = dark ? "Switch to light colours" : "Switch to dark colours";
    toggle.setAttribute("aria-label", label);
    toggle.title = label;
  };
  toggle.addEventListener("click", () => {
    setTheme(theme() === "dark" ? "light" : "dark");
    show();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
  return toggle;
}

async function begin() {
  const page = document.body.dataset.page ?? "";
  document.getElementById("tools")?.append(themeSwitch());
  /** @type {NodeListOf<HTMLAnchorElement>} */
  const links = document.querySelectorAll(".top nav a");
  for (const link of links) {
    const path = new URL(link.href).pathname;
    const here =
      path === "/" ? page === "lobby" || page === "table" : location.pathname.startsWith(path);
    if (here) link.setAttribute("aria-current", "page");
  }
  const main = document.getElementById("main") ?? document.body;
  try {
    const { start } = await PAGES[page]();
    await start(main);
    document.body.dataset.ready = "yes";
  } catch (error) {
    put(
      main,
      h(
        "div",
        { class: "notice bad", role: "alert" },
        h("h1", {}, "This page could not be opened"),
        h("p", {}, sentence(reasonOf(error))),
        h("p", {}, h("a", { href: "/" }, "Back to the lobby")),
      ),
    );
    document.body.dataset.ready = "failed";
  }
}

begin();

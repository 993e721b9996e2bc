// Starts the page that the shell names, and the tools in the header.

import { h, put } from "./dom.js";
import { setTheme, theme } from "./settings.js";

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
    toggle.setAttribute("aria-label", dark ? "Light colours" : "Dark colours");
    toggle.title = dark ? "Light colours" : "Dark colours";
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
  const page = document.body.dataset.page;
  document.getElementById("tools").append(themeSwitch());
  for (const link of document.querySelectorAll(".top nav a")) {
    const path = new URL(link.href).pathname;
    const here =
      path === "/" ? page === "lobby" || page === "table" : location.pathname.startsWith(path);
    if (here) link.setAttribute("aria-current", "page");
  }
  const main = document.getElementById("main");
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
        h("h1", {}, "This did not work"),
        h("p", {}, error.message),
        h("p", {}, h("a", { href: "/" }, "Back to the lobby")),
      ),
    );
    document.body.dataset.ready = "failed";
  }
}

begin();

// Runs before the first paint, so that the page never appears in the wrong theme first.
(() => {
  try {
    const chosen = localStorage.getItem("cardlab.theme");
    if (chosen) document.documentElement.dataset.theme = chosen;
  } catch {
    // Without access to storage the system's preference decides.
  }
})();

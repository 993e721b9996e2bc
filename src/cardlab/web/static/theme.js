// Runs before the first paint, so that a chosen theme never flashes the other one.
(() => {
  try {
    const chosen = localStorage.getItem("cardlab.theme");
    if (chosen) document.documentElement.dataset.theme = chosen;
  } catch {
    // Storage may be closed to this page; the system's preference then decides.
  }
})();

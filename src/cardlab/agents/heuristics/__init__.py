"""Rules of thumb: one module per game, each with a kernel `choose` over a view."""

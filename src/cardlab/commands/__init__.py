"""The commands, one module per purpose; `cardlab.cli` registers them."""

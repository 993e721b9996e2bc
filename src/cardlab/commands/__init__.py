"""The commands of the command line, by what people want to do; `cardlab.cli` binds them."""

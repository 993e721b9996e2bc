"""Whatever chooses: one module per kind of agent, and the catalogue of their names."""

"""The web table: people and agents play in the browser; `cardlab serve` starts it."""

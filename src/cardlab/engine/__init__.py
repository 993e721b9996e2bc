"""The contract of games: kernels, records, chance, views, play, batches, manifests."""

"""What every game stands on: kernels, records, chance, views, play, batches, manifests."""

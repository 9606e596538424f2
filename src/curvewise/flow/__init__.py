"""Where engine, store, exchange and analyses meet: read results, or run for them."""

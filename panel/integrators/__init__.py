"""Pages of integrators: their deliveries, requests, tokens, pickup points."""

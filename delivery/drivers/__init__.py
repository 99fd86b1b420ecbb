"""The page with which drivers work on their phones: offers, the route, positions, photos. No models, no rules."""

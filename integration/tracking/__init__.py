"""The page with which a receiver follows an order, by a link without log-in. No models, no rules."""

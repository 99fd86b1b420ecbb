"""The page with which a receiver follows one stop of a delivery, by a link without log-in. No models, no rules."""

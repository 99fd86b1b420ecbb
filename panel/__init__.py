"""Pages for people. No models, no rules: a page loads, makes one call of an action, and answers."""

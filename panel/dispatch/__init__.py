"""Pages of dispatchers: the board, drivers, alerts of all accounts."""

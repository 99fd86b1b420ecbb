"""One file per page family."""

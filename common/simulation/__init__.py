"""What the sandboxes of both areas have in common: rows that move by themselves, and how fast they do."""

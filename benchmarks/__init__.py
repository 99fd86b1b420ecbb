"""What is measured, and against what. `make bench-webhooks`; the figures stand in benchmarks/RESULTS.md."""

"""The simulated carrier, and moves by hand."""

"""The sandbox: the simulated carrier of orders that were created with a test key, and moves by hand."""

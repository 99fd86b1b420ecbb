"""The sandbox: simulated drivers of deliveries that were requested with a test token, and moves by hand."""

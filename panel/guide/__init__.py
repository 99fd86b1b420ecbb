"""The pages at /docs/: the guide, the reference, error codes."""

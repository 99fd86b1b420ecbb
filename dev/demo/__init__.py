"""The demo: its data, and `manage.py demo`, an end-to-end check of a running service over HTTP."""

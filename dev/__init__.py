"""What `make run` and the demo need beside production: embedded servers, a supervisor, demo data.

Imported in embedded mode and by the demo's commands only.
"""

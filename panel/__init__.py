"""Pages for integrators, sellers, dispatchers and account staff.

A view loads objects, calls one action and renders a template. Rules are in the actions, models in the areas.
"""

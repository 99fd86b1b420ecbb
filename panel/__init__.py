"""Pages for integrators, sellers and dispatchers.

A view loads objects, calls one action and renders a template. Rules are in the actions, models in the areas.
"""

"""Integrators, their tokens and their pickup points."""

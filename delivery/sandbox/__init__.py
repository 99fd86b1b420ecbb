"""Simulated drivers, and the endpoints with which an integrator steers them."""

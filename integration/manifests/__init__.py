"""Manifests: the parcels that a carrier takes along."""

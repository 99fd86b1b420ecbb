"""Addresses as text that a geocoder has turned into coordinates."""

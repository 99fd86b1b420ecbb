"""Carriers, their keys, and which orders they bring."""

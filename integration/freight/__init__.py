"""Freight by postcode: its calculation, the tables of prices, quotes."""

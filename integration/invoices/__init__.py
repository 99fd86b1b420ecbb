"""Invoices (NF-e): their files, and the orders that they belong to."""

"""Sellers, their companies and their keys."""

"""Drivers' phones: the page, its log-in and push messages; drivers in the admin. Models: `delivery/models/driver.py`."""

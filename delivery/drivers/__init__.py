"""Drivers' phones: the page, its log-in and push messages; drivers in the admin. Models: `models/driver.py`."""

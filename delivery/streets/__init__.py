"""Streets on the maps of the installation: the map file, copied from a larger one, and what superusers have chosen."""

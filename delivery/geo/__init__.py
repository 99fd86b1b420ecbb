"""Where things are: distances, routes on streets, travel times, addresses, positions of drivers."""

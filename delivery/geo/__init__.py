"""Where things are: distances, the service area, routes on streets, travel times, positions of drivers."""

"""The ground of the maps: a file of vector tiles on this server, in the format PMTiles."""

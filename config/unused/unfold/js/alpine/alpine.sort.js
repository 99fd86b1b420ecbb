// No list of the admin is sorted by dragging.

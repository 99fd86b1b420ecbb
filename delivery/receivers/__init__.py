"""Links for the receiver of a drop-off, and the page that they lead to."""

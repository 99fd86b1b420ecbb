"""`manage.py demo`: plays a real caller of a running service, over HTTP, and judges what it sees."""

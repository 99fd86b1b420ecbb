"""Actors, as histories and the audit trail record them."""

from django.http import HttpRequest


def actor(request: HttpRequest) -> str:
    """The actor of a request, such as "user maria"."""
    return f"user {request.user.get_username()}"

"""Names of those who act, as histories and the audit trail keep them."""

from django.http import HttpRequest


def actor(request: HttpRequest) -> str:
    """Who acts, as it is written into histories."""
    return f"user {request.user.get_username()}"

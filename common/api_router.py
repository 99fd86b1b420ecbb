"""The router of both APIs."""

from rest_framework.routers import SimpleRouter


class ApiRouter(SimpleRouter):
    """Paths without a slash at the end, with Django's path converters."""

    def __init__(self) -> None:
        super().__init__(trailing_slash=False, use_regex_path=False)

"""The base of both areas' domain errors."""

from typing import ClassVar


class DomainError(Exception):
    """A refusal with a stable `code`. `str(error)` is the message for the caller, `status` the HTTP status."""

    code: ClassVar[str]
    status: ClassVar[int] = 422
    # What `str(error)` is unless it is raised with a message.
    message: str = ""
    fields: tuple[str, ...] = ()  # of the request, that the refusal is about
    retry_after: int = 0  # seconds, for the header Retry-After; 0: no such header

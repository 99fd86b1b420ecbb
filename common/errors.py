"""The base of both areas' domain errors."""

from typing import ClassVar


class DomainError(Exception):
    """A refusal with a stable `code`. `str(error)` is the message for the caller, `status` the HTTP status.

    `message` is a %-format string with the names of `values`; pages translate `message` before they insert the values.
    """

    code: ClassVar[str]
    status: ClassVar[int] = 422
    # Area A's answers have both: a short text for the code, and whether the same request may succeed later unchanged.
    title: ClassVar[str]
    retryable: ClassVar[bool] = False
    # What `str(error)` is unless it is raised with a message.
    message: str = ""
    fields: tuple[str, ...] = ()  # of the request, that the refusal is about
    retry_after: int = 0  # seconds, for the header Retry-After; 0: no such header
    # Of an error that calls of an API are answered with: what it means, and what the caller does about it. The pages of
    # error codes show them, and `example`, a message that it is raised with if it has no `message`.
    meaning: ClassVar[str]
    remedy: ClassVar[str]
    example: ClassVar[str] = ""

    def __init__(self, message: str = "", **values: object) -> None:
        self.message, self.values = message or self.message, values
        super().__init__(self.message % values if values else self.message)

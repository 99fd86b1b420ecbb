"""The base of both areas' domain errors."""

from typing import ClassVar


class DomainError(Exception):
    """A refusal with a stable `code`. `str(error)` is the message for the caller."""

    code: ClassVar[str]

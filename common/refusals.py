"""The texts of refusals, as people read them."""

from collections.abc import Callable

from django.utils.translation import gettext

from common.errors import DomainError


def refusal(error: DomainError, *, written: Callable[[object], object] = lambda value: value) -> str:
    """The message of a refusal in the reader's language, with its values as `written` makes them."""
    text = gettext(error.message)
    return text % {name: written(value) for name, value in error.values.items()} if error.values else text

"""The texts of refusals, as people read them."""

from django.utils.translation import gettext

from common.errors import DomainError


def refusal(error: DomainError) -> str:
    """The message of a refusal in the reader's language, with its values as they are."""
    return gettext(error.message) % error.values if error.values else gettext(error.message)

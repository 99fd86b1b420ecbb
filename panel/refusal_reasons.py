"""The reasons of refused calls in the reader's language, from the code and the values that are stored with each."""

from django.utils.translation import get_language, gettext, gettext_noop

from common.api.refused_calls import Reason
from panel.guide.catalogue import CODES

# What is wrong with a field, by the code of its error. Answers of immediate delivery say it in English.
_OF_FIELDS = {
    "required": gettext_noop("This is missing."),
    "null": gettext_noop("This may not be null."),
    "blank": gettext_noop("This may not be empty."),
    "empty": gettext_noop("This may not be empty."),
    "invalid": gettext_noop("This is not of the type that the reference names."),
    "not_a_list": gettext_noop("This must be a list."),
    "min_length": gettext_noop("This has too few characters or entries."),
    "max_length": gettext_noop("This has too many characters or entries."),
    "max_string_length": gettext_noop("The number is too large."),
    "overflow": gettext_noop("The number is too large."),
    "max_value": gettext_noop("The number is too large."),
    "min_value": gettext_noop("The number is too small."),
    "not_positive": gettext_noop("The number must be greater than 0."),
    "null_characters_not_allowed": gettext_noop("This has characters that cannot be stored."),
    "surrogate_characters_not_allowed": gettext_noop("This has characters that cannot be stored."),
    "invalid_choice": gettext_noop("This is none of the values that the reference names."),
    "invalid_zipcode": gettext_noop("A zipcode has 8 digits, with or without a hyphen: 01310-100."),
    "invalid_email": gettext_noop("This is not an e-mail address."),
    "invalid_moment": gettext_noop("A date or moment in ISO 8601, such as 2026-11-20 or 2026-11-20T10:00:00-03:00."),
    "missing_offset": gettext_noop("The offset is missing, such as -03:00 at the end, or Z."),
    "not_in_reverse": gettext_noop("A drop-off at which the driver collects (deliveryMode REVERSE) has none."),
    "too_far_ahead": gettext_noop("This is too far ahead."),
    "window_too_short": gettext_noop("The time until the deadline is too short."),
    "windows_contradict": gettext_noop("The moments of the pickup and of the drop-off contradict each other."),
    "unknown_key": gettext_noop("This key is unknown and has no effect."),
    "unknown_outcome": gettext_noop("This begins like an outcome of the simulated driver and is none."),
    "missing_weight": gettext_noop("A package without a weight counts as 0 kg."),
    "doubtful_measure": gettext_noop("Sides are in centimetres, and this one is shorter than one."),
    "doubtful_phone": gettext_noop("This does not look like a telephone number."),
    "duplicate_external_id": gettext_noop("Another drop-off of this delivery has this externalId too."),
    "repeated_external_id": gettext_noop("A delivery of the last 24 hours has this externalId."),
    "missing_street": gettext_noop("Without a street the driver has the coordinates only."),
    "missing_number": gettext_noop("Without a number the driver has the street only."),
    "postcode_of_another_state": gettext_noop("This is of another state than the rest of the address."),
    "different_coordinates": gettext_noop(
        "The coordinates of 'address' are another place. Those of 'coordinates' are used."
    ),
    "invalid_limit": gettext_noop("This is no number of rows that a page may have."),
    "repeated": gettext_noop("Give the parameter once."),
    "reversed": gettext_noop("This is before createdFrom."),
}


def reason(found: Reason) -> str:
    """A reason of a refused call in the reader's language, after the name of its field.

    A message without a translation is told by its code; one without a code stays in the answer's language.
    """
    field, code, message, values = found["field"], found["code"], found["message"], found["values"]
    text = gettext(message)
    if text == message and get_language() != "en" and code:
        text = gettext(_OF_FIELDS.get(code, CODES[code].meaning if code in CODES else message))
    elif values:
        text %= values
    return f"{field}: {text}" if field else text

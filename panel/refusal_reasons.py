"""The reasons of refused calls of immediate delivery in the reader's language. The API answers in English.

Stored answers have the texts with their values. A text is looked up as it is, then by the texts with placeholders that
it may have been made of, then sentence by sentence. One that has no translation stays English.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from django.utils.translation import get_language, gettext, gettext_noop
from django.utils.translation.trans_real import catalog

# The texts of `delivery.api` that are in no translated exception. tests/panel/test_refused_calls.py compares them.
_TEXTS = (
    gettext_noop("A date or moment in ISO 8601, such as 2026-11-20 or 2026-11-20T10:00:00-03:00."),
    gettext_noop("A deliveryId is the UUID that request-delivery answered with."),
    gettext_noop("A drop-off at which the driver collects (deliveryMode REVERSE) has none."),
    gettext_noop("A package without a weight counts as 0 kg."),
    gettext_noop("A zipcode has 8 digits, with or without a hyphen: 01310-100."),
    gettext_noop("An integer from 1 to %(most)s."),
    gettext_noop("Another drop-off of this delivery has this externalId too."),
    gettext_noop("Choose one of: %(choices)s."),
    gettext_noop("Correct it, or send its latitude and longitude."),
    gettext_noop("Did you mean '%(nearest)s'?"),
    gettext_noop("Ensure this value is greater than 0."),
    gettext_noop("Give latitude and longitude, here or in coordinates, or an address and none of the two."),
    gettext_noop("Give latitude and longitude, here or in coordinates."),
    gettext_noop("Give the parameter once."),
    gettext_noop("Known ones: %(names)s."),
    gettext_noop("Latitude and longitude seem to be swapped: the other way round it is inside."),
    gettext_noop("Leave the parameter out, or give it a value."),
    gettext_noop("Name the X-Request-Id header of this answer when you report it."),
    gettext_noop("No active tariff for %(vehicle)s."),
    gettext_noop("No place was found for this address."),
    gettext_noop("At most 30 days ahead."),
    gettext_noop("At most 31 days ahead."),
    gettext_noop("The deadline of the pickup is at least 10 minutes after it is ready, and 20 minutes from now."),
    gettext_noop(
        "What is delivered is ready before the deadline of the pickup, and without one at most 2 hours after the "
        "pickup is ready."
    ),
    gettext_noop(
        "The deadline of a drop-off is at least 20 minutes after it is ready, and not before that of the pickup."
    ),
    gettext_noop("A moment of RFC 3339 with its offset, such as 2026-12-01T16:00:00-03:00."),
    gettext_noop("The offset is missing, such as -03:00 at the end, or Z."),
    gettext_noop("Percent-encode the + of an offset."),
    gettext_noop("Send 'S/N' if the building has none."),
    gettext_noop("Send a JSON object."),
    gettext_noop("Send an action, instructions, or both."),
    gettext_noop("Send contacts or instructions."),
    gettext_noop("Send it in UTF-8 without one."),
    gettext_noop("Send it in UTF-8."),
    gettext_noop("Send it uncompressed."),
    gettext_noop("Send the body as JSON, with the header Content-Type: application/json."),
    gettext_noop("Take nextCursor of an answer to the same filters, or begin without a cursor."),
    gettext_noop("Take nextCursor of the answer before, or begin without 'after'."),
    gettext_noop("The body begins with a byte order mark (BOM, EF BB BF)."),
    gettext_noop("The body holds NaN or Infinity, which are no JSON values."),
    gettext_noop("The body holds a number with too many digits."),
    gettext_noop("The body is compressed with gzip."),
    gettext_noop("The body is empty."),
    gettext_noop("The body is in UTF-16 or UTF-32."),
    gettext_noop("The body is larger than %(size)s KiB."),
    gettext_noop("The body is nested deeper than %(levels)s levels."),
    gettext_noop("The body is not JSON: %(detail)s."),
    gettext_noop("The body is not in UTF-8: the byte at offset %(position)s does not fit. It may be in Latin-1."),
    gettext_noop("The body must be a JSON object."),
    gettext_noop("The coordinates of 'address' are another place. Those of 'coordinates' are used."),
    gettext_noop("The header %(name)s is a number from %(least)s to %(most)s."),
    gettext_noop("The number is too large."),
    gettext_noop("The packages take %(litres)s litres; this tariff serves up to %(most)s litres."),
    gettext_noop("The packages weigh %(weight)s kg; this tariff serves up to %(most)s kg."),
    gettext_noop("A package is %(side)s cm long; this tariff serves up to %(most)s cm."),
    gettext_noop("The request failed unexpectedly."),
    gettext_noop("The route is %(length)s km long; this tariff serves up to %(most)s km."),
    gettext_noop("This address is not one place on the map."),
    gettext_noop("This does not look like a telephone number."),
    gettext_noop("This is of another state than the rest of the address."),
    gettext_noop("This key is unknown and has no effect."),
    gettext_noop("This must be a JSON object."),
    gettext_noop("This parameter is unknown and has no effect."),
    gettext_noop("Without a number the driver has the street only."),
    gettext_noop("Without a street the driver has the coordinates only."),
    gettext_noop("%(point)s is outside the area that this service serves."),
)
# Of msgids, which are our own and those of packages.
_PLACEHOLDER = re.compile(r"%\((\w+)\)s|\{(\w+)\}")
_END_OF_SENTENCE = re.compile(r"(?<=[.?]) ")
# A text with fewer letters beside its values could be any text.
_LEAST_LETTERS = 10


@dataclass(frozen=True)
class _Template:
    """A text with placeholders: what stands around them, one more than `names`."""

    msgid: str
    parts: list[str]
    names: list[str]

    def values(self, text: str) -> dict[str, str] | None:
        """What stands in `text` at the placeholders, each as short as possible; None if it is of another template."""
        if not text.startswith(self.parts[0]):
            return None
        at, found = len(self.parts[0]), {}
        for (_before, after), name in zip(pairwise(self.parts), self.names, strict=True):
            is_last = name == self.names[-1]
            end = text.rfind(after) if is_last and after else text.find(after, at) if after else len(text)
            if end < at:
                return None
            found[name], at = text[at:end], end + len(after)
        return found if at == len(text) else None


@lru_cache(maxsize=4)
def _templates(_language: str) -> list[_Template]:
    """Those of the active language, the most particular first."""
    active: Any = catalog()
    messages = active._catalog  # noqa: SLF001  # as JavaScriptCatalog of Django reads it
    found = []
    for msgid in messages.keys():  # noqa: SIM118  # no mapping
        if isinstance(msgid, str) and len(_PLACEHOLDER.sub("", msgid)) >= _LEAST_LETTERS:
            parts = _PLACEHOLDER.split(msgid)
            if names := [first or second for first, second in zip(parts[1::3], parts[2::3], strict=True)]:
                found.append(_Template(msgid, parts[::3], names))
    return sorted(found, key=lambda each: -sum(map(len, each.parts)))


def translated(text: str) -> str:
    """A text of `RefusedCall.reasons` in the reader's language."""
    return _found(text) or " ".join(_found(part) or part for part in _END_OF_SENTENCE.split(text))


def _found(text: str) -> str:
    """The translation of a whole text; empty if there is none."""
    exact = gettext(text) if text else ""
    if exact != text:
        return exact
    for template in _templates(get_language() or ""):
        values = template.values(text)
        if values is not None:
            return _filled(gettext(template.msgid), values)
    return ""


def _filled(text: str, values: dict[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values.get(match[1] or match[2], ""), text)

"""Texts and JSON values of the largest size that is taken, each the worst for some way of reading it."""

import json

# Below MAX_BODY_BYTES, with room for the rest of a body.
SIZE = 240_000

# The first and the last moments of all, in the forms that fields of moments take.
EXTREMES = [
    f"{day}{letter}{time}{offset}"
    for day, time in (("0001-01-01", "00:00:00"), ("9999-12-31", "23:59:59"))
    for letter, offset in ((" ", ""), ("T", ""), ("T", "Z"), ("T", "+14:00"), ("T", "-14:00"))
]

_SHORT = 60
_MARKED = "letters, then a mark"
# Repeated to the full size; with a start and an end that a pattern may ask for.
_UNITS = {
    "digits": ("", "1", ""),
    "digits, then a letter": ("", "1", "x"),
    "sign, digits, then a letter": ("-", "1", "x"),
    "decimals, then a letter": ("0.", "1", "x"),
    "zeros after the point, then a letter": ("1.", "0", "x"),
    "dots": ("", ".", ""),
    "numbers with dots": ("", "1.", "x"),
    "exponent": ("1e", "9", ""),
    "nines with underscores": ("", "9_", "9"),
    "letters": ("", "x", ""),
    _MARKED: ("", "x", "!"),
    "spaces": ("", " ", ""),
    "spaces, then a letter": ("", " ", "x"),
    "letter, spaces, letter": ("x", " ", "x"),
    "hyphens": ("", "-", "x"),
    "commas": ("", "1,", "x"),
    "semicolons": ("", ";", ""),
    "joined by x": ("", "1x", ","),
    "dimensions": ("1x1x1,", "1", "x"),
    "moment, then spaces": ("2026-11-20 10:00:00", " ", "x"),
    "moment, then digits": ("2026-11-20 10:00:00.", "1", "x"),
    "moments": ("", "2026-11-20T10:00:00", ""),
    "access key, then more": ("1" * 44, "A", ""),
    "URN": ("", "urn:uuid:", "0"),
    "braces": ("", "{", ""),
    "quotes": ("", '"', "'"),
    "escaped quotes between spaces": ('x" ', '\\" ', ""),
    "backslashes": ('"', "\\", ""),
    "percent": ("", "%2", ""),
    "markup": ("", "<a>", "&"),
    "at": ("", "a@", ""),
    "URL": ("https://", "a.", ""),
    "full-width digits": ("", "\uff11", "x"),
    "combining marks": ("e", "\u0301", ""),
    "emoji": ("", "\U0001f6f5", ""),
    "line ends": ("", "\r\n", "x"),
}


def texts(size: int = SIZE) -> dict[str, str]:
    """By its name each text, of at most `size` bytes in UTF-8."""
    return {name: _filled(*parts, size) for name, parts in _UNITS.items()}


def _filled(start: str, unit: str, end: str, size: int) -> str:
    room = size - len((start + end).encode())
    return start + unit * (room // len(unit.encode())) + end


def json_values(size: int = SIZE) -> dict[str, str]:
    """By its name each JSON value as it stands in a body: every text, numbers, and structures."""
    # Escapes double a quote or a backslash.
    spelled = {name: json.dumps(text, ensure_ascii=False) for name, text in texts(size).items()}
    short = {name: json.dumps(text, ensure_ascii=False) for name, text in texts(size // 2).items()}
    # Behind a field's limit of its length a pattern can still take exponential time.
    after_limit = {f"short {name}": json.dumps(texts(_SHORT)[name]) for name in ("digits, then a letter", _MARKED)}
    fitting = {name: text if len(text.encode()) <= size + 2 else short[name] for name, text in spelled.items()}
    return (
        fitting
        | after_limit
        | {
            "integer of 4300 digits": "9" * 4300,
            "number of many digits": "9" * (size - 2) + ".5",
            "number of many decimals": "0." + "1" * (size - 2),
            "number with a huge exponent": "1e" + "9" * 18,
            "number with a tiny exponent": "1e-" + "9" * 18,
            "list of numbers": f"[{'1,' * (size // 2 - 2)}1]",
            "list of objects": f"[{'{},' * (size // 3 - 2)}{{}}]",
            "list of lists": f"[{'[],' * (size // 3 - 2)}[]]",
            "list of long integers": f"[{','.join(['9' * 4300] * (size // 4302))}]",
            "nested to the limit": "[" * 15 + "1" + "]" * 15,
            "object of many keys": json.dumps({f"k{number}": 1 for number in range(size // 14)}),
            "object of one key many times": "{" + '"k":1,' * (size // 6 - 2) + '"k":1}',
            "object of a long key": json.dumps({"k" * (size - 10): 1}),
            "true": "true",
        }
    )

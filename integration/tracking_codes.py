"""Tracking codes in the form of UPU standard S10: two letters, eight digits, a check digit and the country. Pure."""

_WEIGHTS = (8, 6, 4, 2, 3, 5, 9, 7)
_SERIALS = 10**8
_LETTERS = 26
COUNTRY = "BR"
LAST = _LETTERS * _LETTERS * _SERIALS - 1


def encode(number: int) -> str:
    """The code of the `number`-th parcel (0 to LAST): AA000000005BR, … ZZ999999999BR. Another number, another code."""
    if not 0 <= number <= LAST:
        raise ValueError(f"{number} is beyond the last S10 code")
    indicator, serial = divmod(number, _SERIALS)
    letters = "".join(chr(ord("A") + place) for place in divmod(indicator, _LETTERS))
    digits = f"{serial:08d}"
    return f"{letters}{digits}{check_digit(digits)}{COUNTRY}"


def check_digit(serial: str) -> int:
    """Check digit of an eight-digit serial number: 11 less the weighted sum modulo 11, where 10 is 0 and 11 is 5."""
    remainder = 11 - sum(weight * int(digit) for weight, digit in zip(_WEIGHTS, serial, strict=True)) % 11
    return {10: 0, 11: 5}.get(remainder, remainder)

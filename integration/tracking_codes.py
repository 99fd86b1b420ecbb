"""Tracking codes of UPU standard S10: two letters, eight digits, a check digit and the country. Pure."""

_WEIGHTS = (8, 6, 4, 2, 3, 5, 9, 7)
_SERIALS = 10**8
_LETTERS = 26
COUNTRY = "BR"
LAST = _LETTERS * _LETTERS * _SERIALS - 1


def encode(number: int) -> str:
    """The code for a serial `number` from 0 (AA000000005BR) to LAST (ZZ999999995BR); a bijection.

    Raises ValueError for another number.
    """
    if not 0 <= number <= LAST:
        raise ValueError(f"{number} is beyond the S10 codes, 0 to {LAST}")
    indicator, serial = divmod(number, _SERIALS)
    letters = "".join(chr(ord("A") + index) for index in divmod(indicator, _LETTERS))
    digits = f"{serial:08d}"
    return f"{letters}{digits}{check_digit(digits)}{COUNTRY}"


def check_digit(serial: str) -> int:
    """Check digit of an eight-digit serial number: 11 - weighted sum modulo 11, with 10 replaced by 0 and 11 by 5."""
    remainder = 11 - sum(weight * int(digit) for weight, digit in zip(_WEIGHTS, serial, strict=True)) % 11
    return {10: 0, 11: 5}.get(remainder, remainder)

"""Looks for secrets and personal data in the logs of the processes that the tests have started."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from config.env import data_dir
from tests.factories import payload
from tests.integration.factories import order_body

# Bearer tokens, API keys and signing secrets. What is logged of them is shorter.
_SECRET = re.compile(r"(rota_(live|test|key|testkey)_|whsec_)[\w+/=-]{20,}")
_PERSONAL = {"name", "phoneNumber", "phone", "cellphone", "email", "document", "street"}
# Shorter values, such as "Rua 1", could be a part of anything.
_SHORTEST = 6


def clear() -> None:
    shutil.rmtree(_folder(), ignore_errors=True)


def leaks() -> list[str]:
    """The lines with a secret, or with a value about a person that the tests have sent."""
    values = {value for value in (*_values_of(payload()), *_values_of(order_body())) if len(value) >= _SHORTEST}
    digits = {re.sub(r"\D", "", value) for value in values if not re.search(r"[^\W\d]", value)}
    return [line for line in _lines() if _SECRET.search(line) or any(value in line for value in values | digits)]


def count() -> int:
    """How many lines there are."""
    return sum(1 for _line in _lines())


def _lines() -> Iterator[str]:
    for path in sorted(_folder().glob("*.log")):
        with path.open(errors="replace") as file:
            for line in file:
                yield f"{path.name}: {line.strip()}"


def _folder() -> Path:
    return data_dir() / "logs"


def _values_of(body: Any) -> Iterator[str]:
    if isinstance(body, list):
        for each in body:
            yield from _values_of(each)
    elif isinstance(body, dict):
        for key, value in body.items():
            if key in _PERSONAL and isinstance(value, str):
                yield value
            yield from _values_of(value)

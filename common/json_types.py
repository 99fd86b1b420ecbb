"""What type hints do not say of a JSON value, as metadata for `typing.Annotated`. OpenAPI is made from it. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True)
class Json:
    """`format` as in JSON Schema. `one_of`: all values that occur. `about`: a sentence, with the unit of a number."""

    about: str = ""
    format: str = ""
    one_of: tuple[str, ...] = ()


def one_of(values: Iterable[str], about: str = "") -> Json:
    return Json(about, one_of=tuple(values))


Uuid = Annotated[str, Json(format="uuid")]
Moment = Annotated[str, Json(format="date-time")]
Brl = Annotated[float, Json("BRL")]
Centavos = Annotated[int, Json("BRL / 100")]
Kilometres = Annotated[float, Json("kilometres")]

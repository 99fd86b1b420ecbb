"""Files of addresses as rows of one form: IBGE's CNEFE, OpenAddresses' CSV and GeoJSON. Read line by line.

Sources: the dictionary of CNEFE 2022 by IBGE (a CSV with semicolons in a zip, of a state or a municipality);
https://openaddresses.io (a CSV with the columns LON, LAT, NUMBER, STREET, CITY, DISTRICT, REGION, POSTCODE, or a
GeoJSON feature on each line with the same names in lower case).
"""

import csv
import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, NamedTuple, cast
from zipfile import BadZipFile, ZipFile, is_zipfile

from common.api.json_body import UNSTORABLE
from common.brazil import municipalities, states
from common.brazil.municipalities import Municipality
from delivery.errors import WrongAddressFile
from delivery.places import address_words, street_names
from delivery.places.models import LONGEST_CITY, Form

_LONGEST_LINE = 64 * 1024  # bytes
_MOST_BYTES = 40 * 1024**3  # of a file that is unpacked: the CNEFE of São Paulo has about 5
_MOST_TIMES_LARGER = 100  # than it is packed
_MOST_PROBLEMS = 20
_LARGEST_NUMBER = 999_999
# Of NV_GEO_COORD: the address, also where it was modified or estimated; the side of a block. What follows are places of
# a locality and of a census sector.
_OF_ADDRESS, _OF_BLOCK = {"1", "2", "3"}, "4"
_CNEFE = ("COD_MUNICIPIO", "CEP", "NOM_TIPO_SEGLOGR", "NOM_SEGLOGR", "NUM_ENDERECO", "LATITUDE", "LONGITUDE")
_COMPLEMENTS = [(f"NOM_COMP_ELEM{number}", f"VAL_COMP_ELEM{number}") for number in range(1, 6)]
_OPENADDRESSES = ("LON", "LAT", "NUMBER", "STREET")
_UNSTORABLE = "The line has a character that cannot be stored."
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


class Address(NamedTuple):
    """A house. `number` is 0 if it has none; of a road with kilometres it is in metres."""

    city: Municipality
    street: str
    number: int
    district: str
    postcode: str
    latitude: float
    longitude: float
    is_exact: bool = True


@dataclass(frozen=True)
class Scope:
    """The state and the city that are imported, both empty for all. A row that names none is taken to lie there."""

    state: str = ""
    city: str = ""


@dataclass
class Reading:
    """What was read: lines that are refused, the first of them with why, and addresses without a place of their own."""

    lines: int = 0
    refused: int = 0
    vague: int = 0
    problems: list[dict[str, Any]] = field(default_factory=list)

    def refuse(self, kind: str, number: int, problem: str) -> None:
        """`kind`: what has this number, such as a line."""
        self.refused += 1
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append({kind: number, "problem": problem})


class RefusedRowError(Exception):
    """A row that is not imported. The message says why."""


class VagueRowError(Exception):
    """An address without a street, or with the place of a larger area."""


_Lines = IO[bytes] | gzip.GzipFile
_postcode_of = lru_cache(maxsize=5_000)(states.postcode_of)
_Read = Callable[[bytes], Address | None]


def read(path: Path, form: Form, scope: Scope, reading: Reading) -> Iterator[Address]:
    """The addresses of a file. Raises WrongAddressFile before the first one for a file of another form."""
    with _opened(path) as file:
        first = file.readline(_LONGEST_LINE).removeprefix(_BOM)
        is_geojson = first.lstrip().startswith(b"{")
        if is_geojson and form is not Form.OPENADDRESSES:
            raise WrongAddressFile(f"The first line of {path.name} is no header of form {form}.")
        if is_geojson:
            convert: _Read = _Features(scope).read
            lines = _numbered(first, file)
        else:
            convert = (_Cnefe if form is Form.CNEFE else _OpenAddresses)(first, scope, path.name).read
            lines = _numbered(b"", file)
        for number, line in lines:
            reading.lines += 1
            if len(line) >= _LONGEST_LINE:
                reading.refuse("line", number, f"The line has more than {_LONGEST_LINE} bytes.")
                continue
            try:
                address = convert(line)
            except RefusedRowError as error:
                reading.refuse("line", number, str(error))
            except VagueRowError:
                reading.vague += 1
            else:
                if address is not None:
                    yield address


def form_of(path: Path) -> Form:
    """The form that the beginning of a file shows. Raises WrongAddressFile if it shows none."""
    if path.name.endswith(".pbf"):
        return Form.OSM
    with _opened(path) as file:
        first = file.readline(_LONGEST_LINE)
    text = _text(first.removeprefix(_BOM)).upper()
    if text.startswith("{"):
        return Form.OPENADDRESSES
    for form, needed in ((Form.CNEFE, "NOM_SEGLOGR"), (Form.OPENADDRESSES, "STREET")):
        if needed in text:
            return form
    raise WrongAddressFile(f"The columns of {path.name} are those of no form that is known. Name it with --form.")


@contextmanager
def _opened(path: Path) -> Iterator[_Lines]:
    """The file, or what is packed in it. Raises WrongAddressFile if it cannot be read."""
    try:
        if is_zipfile(path):
            with ZipFile(path) as archive:
                packed = [each for each in archive.infolist() if each.filename.lower().endswith((".csv", ".geojson"))]
                if len(packed) != 1:
                    raise WrongAddressFile(f"{path.name} contains {len(packed)} files of addresses, not one.")
                (one,) = packed
                if one.file_size > min(_MOST_BYTES, _MOST_TIMES_LARGER * max(one.compress_size, 1024)):
                    raise WrongAddressFile(f"{one.filename} in {path.name} is too large: {one.file_size} bytes.")
                # Whose own readline is written in Python.
                with archive.open(one) as packed_file, BufferedReader(cast("Any", packed_file)) as file:
                    yield file
            return
        with path.open("rb") as raw:
            is_packed = raw.read(2) == _GZIP
            raw.seek(0)
            if is_packed:
                with gzip.open(raw) as file:
                    yield file
            else:
                yield raw
    except (OSError, EOFError, BadZipFile, NotImplementedError, RuntimeError, zlib.error) as error:
        raise WrongAddressFile(f"{path.name} cannot be read: {error}") from error


def _numbered(first: bytes, file: _Lines) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers; of one that is too long, only the beginning. `first`: the first, if it is a row."""
    if first:
        yield 1, first
    read = 0
    number = 1
    while line := file.readline(_LONGEST_LINE):
        number += 1
        read += len(line)
        part = line
        while len(part) >= _LONGEST_LINE and not part.endswith(b"\n"):
            part = file.readline(_LONGEST_LINE)
            read += len(part)
        if read > _MOST_BYTES:
            raise WrongAddressFile(f"The file has more than {_MOST_BYTES} bytes.")
        if line.strip():
            yield number, line


def _text(line: bytes) -> str:
    """UTF-8, or else Latin-1: text of Portuguese in Latin-1 is no UTF-8."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


class _Table:
    """Lines of a CSV file, by the names of the columns."""

    needed: tuple[str, ...]

    def __init__(self, header: bytes, scope: Scope, name: str) -> None:
        text = _text(header).strip().upper()
        self._delimiter = ";" if text.count(";") > text.count(",") else ","
        self._columns = {column: index for index, column in enumerate(self._cells(text))}
        self._scope = scope
        if missing := [column for column in self.needed if column not in self._columns]:
            raise WrongAddressFile(f"{name} has no column {', '.join(missing)}.")

    def _cells(self, line: str) -> list[str]:
        if '"' not in line:
            return line.split(self._delimiter)
        # Outside of quotes csv refuses what would end a line.
        return next(csv.reader([line.replace("\r", " ")], delimiter=self._delimiter), [])

    def _row(self, line: bytes) -> list[str]:
        if b"\0" in line:
            raise RefusedRowError(_UNSTORABLE)
        cells = self._cells(_text(line).rstrip("\r\n"))
        if len(cells) != len(self._columns):
            raise RefusedRowError(f"The line has {len(cells)} cells, the header {len(self._columns)}.")
        return cells

    def _getter(self, column: str) -> Callable[[list[str]], str]:
        """Reads a column, which is empty if the file does not have it."""
        index = self._columns.get(column)
        return (lambda _row: "") if index is None else (lambda row: row[index].strip())


class _Cnefe(_Table):
    needed = _CNEFE

    def __init__(self, header: bytes, scope: Scope, name: str) -> None:
        super().__init__(header, scope, name)
        self._wanted: dict[str, Municipality | None] = {}
        (self._code, self._postcode, self._kind, self._name, self._number, self._latitude, self._longitude) = map(
            self._getter, _CNEFE
        )
        self._title, self._district = self._getter("NOM_TITULO_SEGLOGR"), self._getter("DSC_LOCALIDADE")
        self._modifier, self._level = self._getter("DSC_MODIFICADOR"), self._getter("NV_GEO_COORD")
        self._complements = [
            (self._getter(name), self._getter(value)) for name, value in _COMPLEMENTS if name in self._columns
        ]

    def read(self, line: bytes) -> Address | None:
        row = self._row(line)
        city = self._city(self._code(row))
        if city is None:
            return None
        level, name = self._level(row), self._name(row)
        if (level and level not in _OF_ADDRESS and level != _OF_BLOCK) or not name:
            raise VagueRowError
        street = " ".join(filter(None, (self._kind(row), self._title(row), name)))
        digits = self._number(row)
        if digits and not digits.isdecimal():
            raise RefusedRowError(f"NUM_ENDERECO is no number: {digits[:40]}")
        number = int(digits[:7] or 0)
        if not number:
            street, number = self._with_kilometre(row, street)
        return _address(
            city, street, number, self._district(row), self._postcode(row), self._latitude(row), self._longitude(row),
            is_exact=level != _OF_BLOCK,
        )  # fmt: skip  # a line for each three

    def _with_kilometre(self, row: list[str], street: str) -> tuple[str, int]:
        for text in (street, self._modifier(row)):
            if (metres := street_names.kilometre(text)) is not None:
                return street if text == street else f"{street} {text}", metres
        for name, value in self._complements:
            text = f"{name(row)} {value(row)}"
            if (metres := street_names.kilometre(text)) is not None:
                return f"{street} {text}", metres
        return street, 0

    def _city(self, code: str) -> Municipality | None:
        """The municipality if it is imported. Raises RefusedRowError if there is none with this code."""
        if code not in self._wanted:
            found = municipalities.with_code(code)
            if found is None:
                raise RefusedRowError(f"COD_MUNICIPIO is of no municipality: {code[:40]}")
            self._wanted[code] = found if _is_in(found, self._scope) else None
        return self._wanted[code]


class _OpenAddresses(_Table):
    needed = _OPENADDRESSES

    def __init__(self, header: bytes, scope: Scope, name: str) -> None:
        super().__init__(header, scope, name)
        columns = ("LON", "LAT", "NUMBER", "STREET", "CITY", "DISTRICT", "REGION", "POSTCODE")
        self._getters = [(column.lower(), self._getter(column)) for column in columns]

    def read(self, line: bytes) -> Address | None:
        row = self._row(line)
        return address_of({name: get(row) for name, get in self._getters}, self._scope)


class _Features:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def read(self, line: bytes) -> Address | None:
        try:
            feature = json.loads(_text(line))
            longitude, latitude = feature["geometry"]["coordinates"][:2]
            texts = {name: str(value).strip() for name, value in feature["properties"].items() if value is not None}
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise RefusedRowError("The line is no GeoJSON feature with a point.") from error
        if UNSTORABLE.search("".join(texts.values())):
            raise RefusedRowError(_UNSTORABLE)
        return address_of({**texts, "lon": str(longitude), "lat": str(latitude)}, self._scope)


def address_of(texts: Mapping[str, str], scope: Scope) -> Address | None:
    """The address of texts with the names of OpenAddresses' columns; None if its city is not imported.

    Raises RefusedRowError or VagueRowError.
    """
    postcode = texts.get("postcode", "")
    city = _named(texts.get("city", ""), texts.get("region", ""), postcode, scope)
    if city is None:
        return None
    street = texts.get("street", "")
    if not street:
        raise VagueRowError
    number, metres = texts.get("number", ""), None
    if street_names.kilometre(number) is not None:
        street = f"{street} {number}"
    metres = street_names.kilometre(street)
    found = "".join(filter(str.isdecimal, address_words.house_number(number[: street_names.LONGEST])))
    return _address(
        city, street, int(found or 0) if metres is None else metres, texts.get("district", ""), postcode,
        texts["lat"], texts["lon"],
    )  # fmt: skip  # a line for each three


def _named(name: str, region: str, postcode: str, scope: Scope) -> Municipality | None:
    """The municipality if it is imported. Raises RefusedRowError for a name that is of none."""
    of_postcode = states.region_of(postcode)
    state = states.state_named(region) or scope.state or (of_postcode.state if of_postcode else "")
    if not (name or scope.city):
        raise RefusedRowError("The row names no city. Name it with --state and --city.")
    if not state:
        raise RefusedRowError("The row names no state. Name it with --state.")
    found = municipalities.named((name or scope.city)[:LONGEST_CITY], state)
    if found is None:
        raise RefusedRowError(f"{(name or scope.city)[:40]} is no city of {state}.")
    return found if _is_in(found, scope) else None


def _is_in(city: Municipality, scope: Scope) -> bool:
    is_named = not scope.city or municipalities.plain(city.name) == municipalities.plain(scope.city)
    return is_named and scope.state in ("", city.state)


def _address(  # as a row has them
    city: Municipality, street: str, number: int, district: str, postcode: str, latitude: str, longitude: str,
    *, is_exact: bool = True,
) -> Address:  # fmt: skip  # a line for each three
    """Raises RefusedRowError for a place outside of the city's state, or a number that no house has."""
    try:
        point = float(latitude.replace(",", ".")), float(longitude.replace(",", "."))
    except ValueError as error:
        raise RefusedRowError(f"The coordinates are no numbers: {latitude[:20]}, {longitude[:20]}") from error
    if not states.contains(city.state, *point):
        raise RefusedRowError(f"The coordinates are not in {city.state}: {latitude[:20]}, {longitude[:20]}")
    if number > _LARGEST_NUMBER and not street_names.read(street).metres:
        raise RefusedRowError(f"No house has this number: {number}")
    digits = _postcode_of(postcode)
    return Address(city, street[: street_names.LONGEST], number, district[:LONGEST_CITY], digits, *point, is_exact)

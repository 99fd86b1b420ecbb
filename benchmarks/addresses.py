"""Importing a city of five million addresses, and finding some of them.

The city is invented: a grid of streets with invented names, in a file as IBGE's census has it, each line a house of its
own with the number, place and CEP that follow from its street.
"""

import io
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile

import psutil
from django.db import connection

from benchmarks import report
from config.env import BASE_DIR
from delivery.places import address_table
from delivery.places.geocoding import Located, Precision

_STREETS, _HOUSES = 50_000, 100
_LOOK_UPS = 2_000
_WAIT_S = 0.2
_HEADER = (
    "COD_UNICO_ENDERECO;COD_UF;COD_MUNICIPIO;COD_DISTRITO;COD_SUBDISTRITO;COD_SETOR;NUM_QUADRA;NUM_FACE;CEP;"
    "DSC_LOCALIDADE;NOM_TIPO_SEGLOGR;NOM_TITULO_SEGLOGR;NOM_SEGLOGR;NUM_ENDERECO;DSC_MODIFICADOR;NOM_COMP_ELEM1;"
    "VAL_COMP_ELEM1;NOM_COMP_ELEM2;VAL_COMP_ELEM2;NOM_COMP_ELEM3;VAL_COMP_ELEM3;NOM_COMP_ELEM4;VAL_COMP_ELEM4;"
    "NOM_COMP_ELEM5;VAL_COMP_ELEM5;LATITUDE;LONGITUDE;NV_GEO_COORD;COD_ESPECIE;DSC_ESTABELECIMENTO;"
    "COD_INDICADOR_ESTAB_ENDERECO;COD_INDICADOR_CONST_ENDERECO;COD_INDICADOR_FINALIDADE_CONST;COD_TIPO_ESPECI\n"
)
_KINDS = ("RUA", "RUA", "RUA", "AVENIDA", "TRAVESSA", "ALAMEDA")
_TITLES = ("", "", "", "DOUTOR", "PROFESSORA", "CORONEL", "PADRE")
_FIRST = ("ANTONIO", "MARIA", "JOAQUIM", "TEREZA", "LUIZ", "BEATRIZ", "CARLOS", "HELENA", "PEDRO", "SOFIA")
_SYLLABLES = ("BA", "RE", "TI", "MO", "LU", "SA", "NE", "DI", "GO", "PU", "CAN", "VER", "TIM", "POL", "RUS")


def run() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "3550308_SAO_PAULO.zip"
        _write(path)
        seconds, cpu, memory = _import(path)
        size = path.stat().st_size
    look_ups, found = _look_ups()
    report.table(
        f"A city of {_STREETS * _HOUSES:,} addresses in {_STREETS:,} streets",
        ["what", "measured"],
        [
            ["file, packed", f"{size / 1e6:,.0f} MB"],
            ["import", f"{seconds:,.0f} s ({cpu:,.0f} s of CPU time of the command)"],
            ["most memory of the command", f"{memory / 1e6:,.0f} MB"],
            ["tables with their indexes", f"{_table_bytes() / 1e6:,.0f} MB"],
            [f"look-up, {_LOOK_UPS:,} at random", f"{report.spread(look_ups, unit=' ms', digits=1)}"],
            ["99 % of them within", f"{report.percentile(look_ups, 0.99):.1f} ms"],
            ["found at the house", f"{found / _LOOK_UPS:.1%}"],
        ],
    )


def _write(path: Path) -> None:
    with (
        ZipFile(path, "w", ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("3550308.csv", "w") as raw,
        io.TextIOWrapper(raw, encoding="utf-8", newline="") as file,
    ):
        file.write(_HEADER)
        for street in range(_STREETS):
            file.writelines(_lines(street))


def _lines(street: int) -> Iterator[str]:
    """The houses of a street, every 16 m on both sides, with a modifier and what IBGE fills in beside it."""
    kind, title, name = _named(street)
    postcode, district = _area(street)
    row, column = divmod(street, 250)
    for house in range(_HOUSES):
        number = 10 + 8 * house + house % 2
        latitude = -23.80 + row * 0.0019 + (house % 2) * 0.00012
        longitude = -46.80 + column * 0.0016 + house * 0.00008
        yield (
            f"{street * _HOUSES + house};35;3550308;355030805;35503080500;355030805000{street % 999:03}P;"
            f"{street % 400:03};001;{postcode};{district};{kind};{title};{name};{number};;"
            f"APARTAMENTO;{house};BLOCO;A;;;;;;;{latitude:.6f};{longitude:.6f};1;1;;1;;;101\n"
        )


def _named(street: int) -> tuple[str, str, str]:
    of = random.Random(street)  # noqa: S311  # the same city each time
    last = "".join(of.choices(_SYLLABLES, k=4))
    return of.choice(_KINDS), of.choice(_TITLES), f"{of.choice(_FIRST)} DE {last}"


def _area(street: int) -> tuple[str, str]:
    return f"{1_000_000 + street * 7 // 5:08}", f"VILA {street // 200}"


def _import(path: Path) -> tuple[float, float, int]:
    """Seconds, seconds of CPU time, and bytes of memory of the command at most."""
    began = time.monotonic()
    command = [sys.executable, "-W", "ignore", "manage.py", "addresses", "import", str(path)]
    process = psutil.Popen(command, cwd=BASE_DIR, env=dict(os.environ), stdout=subprocess.PIPE)
    memory, cpu = 0, 0.0
    while process.poll() is None:
        memory = max(memory, process.memory_info().rss)
        cpu = sum(process.cpu_times()[:2])
        time.sleep(_WAIT_S)
    answer = json.loads(process.stdout.read())
    assert (answer["imported"], answer["refused"]) == (_STREETS * _HOUSES, 0), answer
    return time.monotonic() - began, cpu, memory


def _table_bytes() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name",
            [["delivery_addresscity", "delivery_addressstreet"]],
        )
        (size,) = cursor.fetchone()
    return int(size)


def _look_ups() -> tuple[list[float], int]:
    """Milliseconds of each, and how many were found at the house: half of them with the CEP, half with the city."""
    spent, found = [], 0
    of = random.Random(1)  # noqa: S311  # the same addresses each time
    for number in range(_LOOK_UPS):
        street = of.randrange(_STREETS)
        kind, title, name = _named(street)
        postcode, district = _area(street)
        house = of.randrange(_HOUSES)
        address = {"street": f"{kind} {title} {name}".title(), "number": str(10 + 8 * house + house % 2)}
        area = {"zipcode": postcode} if number % 2 else {"city": "São Paulo", "state": "SP", "district": district}
        began = time.perf_counter()
        place = address_table.find({**address, **area})
        spent.append(1000 * (time.perf_counter() - began))
        found += isinstance(place, Located) and place.precision is Precision.ROOFTOP
    return spent, found

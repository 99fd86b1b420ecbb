"""Each table that Rota writes and reads: what is exported, opened, saved and uploaded again means the same.

As CSV and as a workbook, in each language, and read by somebody whose language may be another one.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time
from decimal import Decimal
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.validators import MaxValueValidator
from django.db.models import Model
from django.test import RequestFactory
from django.utils import timezone, translation
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common.admin.tabular_import import TableFile, TabularImportAdmin
from common.files import table_files
from config.env import BASE_DIR
from delivery.models import AccountScope
from integration import lifecycle, words
from integration.carriers import movement_files
from integration.carriers.movements import Movement
from integration.lifecycle import Reason
from panel import uploaded_rows
from panel.integrators import uploads
from panel.sellers import order_uploads
from tests.factories import IntegratorFactory, TariffFactory
from tests.integration.conftest import tariff
from tests.integration.factories import SellerFactory
from tests.sources import PACKAGES

__all__ = ["tariff"]

LANGUAGES = [code for code, _name in django_settings.LANGUAGES]
# What spreadsheets, separators, quotes and encodings could take for something else.
PIECES = [
    "'", '"', "=", "+", "-", "@", ";", ",", "\t", "\n", "\r", " ", ".", "1", "00", "1E5", "D'Ávila", "e\u0301", "é",
    "\uff1d", '="1"', "sep=;", "\ufeff", "\xa0", "_x000D_", "\N{SCOOTER}", "\x01", "<b>", "&amp;", "2026-11-28",
    "+55 11 97777-0001",
    "35261111222333000181550010000001231000000017", "R$ 1.234,50", "true", "#N/A",
]  # fmt: skip  # a list


def texts(*, least: int = 0, most: int = 60) -> Any:
    """Without the space around them, which the product stores nowhere, and without NUL."""
    letters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
    made = st.lists(st.sampled_from(PIECES) | letters, max_size=6).map(lambda parts: "".join(parts)[:most].strip())
    return made.filter(lambda text: len(text) >= least)


@dataclass(frozen=True)
class Journey:
    """The kind of a file, and the languages of who exports it and who uploads it."""

    kind: str
    written: str
    read: str

    def file(self, columns: list[table_files.Column], rows: Iterable[Any]) -> bytes:
        request = RequestFactory().get("/", {"format": self.kind})
        with translation.override(self.written):
            return b"".join(table_files.response(request, "list", columns=columns, rows=rows))


JOURNEYS = st.builds(Journey, st.sampled_from(["csv", "xlsx"]), st.sampled_from(LANGUAGES), st.sampled_from(LANGUAGES))


def texts_of(raw: bytes) -> list[Any]:
    return [tuple(row.cells) for row in table_files.read(raw)[1:]]


def movements_of(raw: bytes) -> list[Any]:
    events, faults = movement_files.read(raw)
    assert faults == []
    return [{**vars(event), "event_id": ""} for _line, event in events]


def told(movement: Movement) -> dict[str, Any]:
    """As the template has it."""
    code = movement.reason_code
    return {
        **vars(movement),
        "status": words.STATUSES[movement.status],
        "reason_code": words.REASONS[Reason(code)] if code else "",
    }


# A cell of a workbook with a midnight is a day, and a day means its end.
MOMENTS = st.integers(0, 10**9).map(lambda seconds: datetime.fromtimestamp(10**9 + seconds, UTC))
MOMENTS = MOMENTS.filter(lambda moment: timezone.localtime(moment).time() != time())
MOVEMENTS = st.builds(
    Movement,
    event_id=st.just(""),
    tracking_code=texts(least=1),
    status=st.sampled_from(sorted(lifecycle.BY_CARRIER)),
    seller=texts(most=20),
    reason_code=st.sampled_from(["", *Reason]),
    reason=texts(),
    place=texts(),
    happened_at=st.none() | MOMENTS,
)
MOVEMENT_COLUMNS = [(column.heading, itemgetter(column.name)) for column in movement_files.COLUMNS]
TEXT_COLUMNS = [(f"Width, height {number}", itemgetter(number)) for number in range(3)]
PROPERTY = settings(max_examples=20, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize(
    ("columns", "rows", "write", "means", "read"),
    [
        (TEXT_COLUMNS, st.tuples(texts(), texts(), texts(least=1)), tuple, tuple, texts_of),
        (MOVEMENT_COLUMNS, MOVEMENTS, told, vars, movements_of),
    ],
    ids=["texts", "events of orders"],
)
@PROPERTY
@given(data=st.data(), journey=JOURNEYS)
def test_rows_are_read_as_they_were_written(data, journey, columns, rows, write, means, read):
    made = data.draw(st.lists(rows, min_size=1, max_size=3))

    raw = journey.file(columns, [write(row) for row in made])

    with translation.override(journey.read):
        assert read(raw) == [means(row) for row in made]


def numbered(row: dict[str, Any], numbers: dict[str, int]) -> dict[str, Any]:
    """With the numbers of a row as such, in whichever language its file has them."""
    return row | {name: Decimal(str(row[name]).replace(",", ".")) for name in numbers}


def rows_of(table: uploaded_rows.Table, numbers: dict[str, int]) -> Any:
    """Rows with a number in the columns that have a largest one, and a text in each other."""
    not_cut = texts().filter(lambda text: len(text) != uploaded_rows.DIGITS_OF_A_CEP - 1)
    of_texts = {name: not_cut if name in table.postcodes else texts() for name in table.columns}
    of_numbers = {
        name: st.integers(1, largest * 1000).map(lambda number: Decimal(number) / 1000)
        for name, largest in numbers.items()
    }
    return st.fixed_dictionaries(of_texts | of_numbers)


# Columns of numbers with the largest of each, and how a new account uploads a file.
UPLOADS: dict[Any, tuple[dict[str, int], Callable[[bytes], uploaded_rows.Upload]]] = {
    uploads: (
        {"b-latitude": 90, "b-longitude": 180, "package1-weight": 1000},
        lambda raw: uploads.read(raw, "list", scope=AccountScope(IntegratorFactory.create(), "live"), sender={}),
    ),
    order_uploads: (
        dict.fromkeys(["item1-price", "item1-weight", "item1-length", "order-cost", "invoice-value"], 1000),
        lambda raw: order_uploads.read(raw, "list", seller=SellerFactory.create(documents=()), environment="live"),
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize("module", UPLOADS, ids=["deliveries", "orders"])
@PROPERTY
@given(data=st.data(), journey=JOURNEYS)
def test_rows_of_a_template_are_read_as_they_were_written(module, data, journey):
    numbers, upload = UPLOADS[module]
    rows = data.draw(st.lists(rows_of(module.TABLE, numbers), min_size=1, max_size=3))
    raw = journey.file([(heading, itemgetter(name)) for name, heading in module.COLUMNS.items()], rows)

    with translation.override(journey.read):
        read = upload(raw).rows

    assert [numbered(row.data, numbers) for row in read] == [
        {name: text for name, text in row.items() if text} for row in rows
    ]


READER = re.compile(r"table_files\.read\(|uploaded_rows\.Table\(|uploaded_rows import .*\bTable\b")
# Beside those of `UPLOADS`.
HERE = ["common/admin/tabular_import.py", "integration/carriers/movement_files.py", "panel/uploaded_rows.py"]


def test_every_table_that_is_read_is_in_this_module():
    """Whatever calls `table_files.read`, or names columns for the rows that people upload."""
    modules = {
        path.relative_to(BASE_DIR).as_posix(): path for name in PACKAGES for path in BASE_DIR.glob(f"{name}/**/*.py")
    }
    readers = {name for name, path in modules.items() if READER.search(path.read_text())}
    uploaded = {Path(module.__file__).relative_to(BASE_DIR).as_posix() for module in UPLOADS}

    assert readers == {*HERE, *uploaded}


def figures(row: Model) -> dict[str, Any]:
    """A strategy for each figure of a row: from 0 to the largest that the admin takes, or nothing."""
    found: dict[str, Any] = {}
    for field in row._meta.concrete_fields:
        places = getattr(field, "decimal_places", 0)
        if hasattr(field, "unit") or field.name == "deadline_days":
            limits = [each.limit_value for each in field.validators if isinstance(each, MaxValueValidator)]
            limits += [10 ** (field.max_digits - places) - 1] if hasattr(field, "max_digits") else []
            found[field.name] = st.decimals(0, int(min(limits)), places=places)
            found[field.name] |= st.none() if field.null else st.nothing()
    return found


@pytest.fixture
def tariffs(db):
    """One for everybody, and one of an account."""
    return [TariffFactory.create(), TariffFactory.create(integrator=IntegratorFactory.create())]


@pytest.mark.parametrize("resource", [each.resource for each in TabularImportAdmin.__subclasses__()])
@PROPERTY
@given(data=st.data(), journey=JOURNEYS)
def test_a_table_of_the_admin_is_the_same_after_its_export_is_imported(tariff, tariffs, resource, data, journey):
    model = resource._meta.model
    rows = list(resource().get_queryset().order_by("pk")[:2])
    assert rows
    model.objects.exclude(pk__in=[row.pk for row in rows]).delete()
    for row in rows:
        model.objects.filter(pk=row.pk).update(**{name: data.draw(each) for name, each in figures(row).items()})
        if account := getattr(row, "integrator", None):
            account.name = data.draw(texts(least=1))
            account.save()
    stored = list(model.objects.order_by("pk").values())

    raw = journey.file(resource().columns, resource().get_queryset())
    for row in rows:
        model.objects.filter(pk=row.pk).update(**dict.fromkeys(figures(row), 0))
    with translation.override(journey.read):
        found = resource().import_data(TableFile(resource).create_dataset(raw), raise_errors=True)

    assert not found.has_validation_errors(), found.invalid_rows
    assert list(model.objects.order_by("pk").values()) == stored

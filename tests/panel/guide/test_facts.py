"""What the guide says in figures and names is what the code does."""

import json
import re

import pytest

from delivery import lifecycle
from delivery.lifecycle import Mode
from integration import lifecycle as order_lifecycle
from integration.freight import calculation as freight
from panel.guide import pages

JSON_BLOCK = re.compile(r"^```json\n(.*?)^```", re.MULTILINE | re.DOTALL)
DEFAULT = freight.Parameters()
FROM_CAPITAL_TO_CAPITAL_IN_MID = freight.Rate(base_centavos=3990, extra_kg_centavos=820, deadline_days=8)


def text_of(name):
    return (pages.FOLDER / f"{name}.md").read_text()


def rows(text, heading):
    """The rows below a heading, as lists of the codes in their cells."""
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[re.findall(r"`(\w+)`", cell) for cell in line.strip("| ").split(" | ")] for line in lines]


class TestStatuses:
    def test_have_every_transition_of_a_delivery(self):
        told, of_reverse = (
            {
                (trigger, route): after
                for (trigger,), before, after, *_more in rows(text_of("statuses"), heading)
                for route in before
            }
            for heading in ("What changes a delivery", "What changes a delivery in mode REVERSE")
        )
        outward, reverse = lifecycle.TABLE[Mode.DEFAULT], lifecycle.TABLE[Mode.REVERSE]

        assert set(told) == set(outward)
        assert {key for key, row in reverse.items() if row != outward.get(key)} <= set(of_reverse) <= set(reverse)
        for table, page in ((outward, told), (reverse, of_reverse)):
            named = {key: [row.route] for key, row in table.items() if isinstance(row, lifecycle.All) and key in page}
            assert named == {key: page[key] for key in named}

    @pytest.mark.parametrize(
        ("heading", "statuses"),
        [("Of a delivery and of an order", lifecycle.Status), ("Of a route", lifecycle.RouteStatus)],
    )
    def test_have_every_status(self, heading, statuses):
        assert [cells[0] for cells in rows(text_of("statuses"), heading)] == [[status] for status in statuses]

    def test_have_every_status_of_an_order(self):
        told = [cells[0][0] for cells in rows(text_of("statuses"), "Of an order of order integration")]

        assert sorted(told) == sorted(order_lifecycle.Status)


class TestFreight:
    def test_of_the_worked_example_is_what_the_code_computes(self):
        sides = {"width_cm": 40, "height_cm": 30, "length_cm": 50}
        package = freight.Package(weight_g=2500, declared_centavos=15_000, **sides)
        flat = freight.Package(weight_g=2500, declared_centavos=15_000)

        whole, without_sides = (
            freight.charges(each, FROM_CAPITAL_TO_CAPITAL_IN_MID, DEFAULT).price.amount for each in (package, flat)
        )

        assert f"3,990 + 9 × 820 + 100 = {whole:,} centavos" in text_of("orders")
        assert f"3,990 + 2 × 820 + 100 = {without_sides:,} centavos" in text_of("orders")


class TestExamples:
    def test_of_bodies_are_json_objects(self):
        kinds = [
            (name, type(json.loads(block)))
            for name in sorted(pages.NAMES - {"", "error-codes"})
            for block in JSON_BLOCK.findall(text_of(name))
        ]

        assert len(kinds) > 10
        assert [name for name, kind in kinds if kind is not dict] == []

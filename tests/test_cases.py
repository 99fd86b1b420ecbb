import inspect

import pytest
from django.contrib.auth.models import Group

from tests.cases import in_turn


def test_a_case_sees_the_rows_of_fixtures_and_none_of_former_cases(db):
    Group.objects.create(name="of a fixture")
    seen = []

    @in_turn("name, number", [("one", 1), ("two", 2)])
    def look(name, number):
        Group.objects.create(name=name)
        seen.append(
            (number, {*Group.objects.filter(name__in=["of a fixture", "one", "two"]).values_list("name", flat=True)})
        )

    look()

    assert seen == [(1, {"of a fixture", "one"}), (2, {"of a fixture", "two"})]


def test_a_failure_names_its_case():
    @in_turn("number", [2, 3, 4])
    def is_even(number):
        assert number % 2 == 0

    with pytest.raises(AssertionError) as failed:
        is_even()

    assert failed.value.__notes__ == ["with {'number': 3}"]


def test_no_case_is_a_failure():
    with pytest.raises(AssertionError, match="no case"):
        in_turn("number", [])(lambda number: None)()


def test_what_is_asked_of_pytest_is_fixtures():
    def test(db, number):
        """Nothing."""

    assert list(inspect.signature(in_turn("number", [1])(test)).parameters) == ["db"]

"""The measure itself: it has to find what it is for."""

import re

import pytest

from tests.cost.cpu import assert_cheap


def quadratic():
    re.fullmatch(r"(\d+\.?\d*)", "1" * 10_000 + "x")


def endless():
    while True:
        pass


class TestAssertCheap:
    def test_passes_what_is_cheap(self):
        assert_cheap({"one": int, "two": int}, seconds=0.1)

    def test_fails_for_a_quadratic_pattern(self):
        with pytest.raises(AssertionError, match=r"^slow: \d"):
            assert_cheap({"fast": int, "slow": quadratic}, seconds=0.1)

    def test_takes_more_on_a_slow_machine(self, monkeypatch):
        monkeypatch.setattr("tests.cost.cpu.slowness", lambda: 100)

        assert_cheap({"slow": quadratic}, seconds=0.1)

    def test_fails_for_what_never_ends(self):
        with pytest.raises(AssertionError, match=r"^endless: inf CPU seconds\nafter it: not reached"):
            assert_cheap({"endless": endless, "after it": int}, seconds=0.1)

    def test_fails_for_an_exception(self):
        with pytest.raises(AssertionError, match=r"(?s)^wrong: .*ValueError"):
            assert_cheap({"wrong": lambda: int("x")}, seconds=0.1)

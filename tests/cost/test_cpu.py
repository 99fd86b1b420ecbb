"""The measure itself: it has to find what it is for."""

import re

import pytest

from tests.cost.cpu import assert_cheap


def quadratic():
    re.fullmatch(r"(\d+\.?\d*)", "1" * 10_000 + "x")


def exponential():
    re.fullmatch(r"(a+)+", "a" * 50 + "x")


class TestAssertCheap:
    def test_fails_for_a_quadratic_pattern(self):
        with pytest.raises(AssertionError, match=r"^slow: \d\.\d\d CPU seconds$"):
            assert_cheap({"fast": int, "slow": quadratic}, seconds=0.1)

    def test_takes_more_on_a_slow_machine(self, monkeypatch):
        monkeypatch.setattr("tests.cost.cpu.slowness", lambda: 100)

        assert_cheap({"slow": quadratic}, seconds=0.1)

    def test_kills_a_match_that_does_not_end_and_goes_on_after_it(self, monkeypatch):
        monkeypatch.setattr("tests.cost.cpu.KILLED_AFTER", 0.5)

        with pytest.raises(AssertionError, match=r"^endless: killed after 0\.5 CPU seconds\nslow: .* CPU seconds$"):
            assert_cheap({"fast": int, "endless": exponential, "slow": quadratic, "last": int}, seconds=0.1)

    def test_stops_after_five_faults(self):
        calls = {f"wrong {number}": lambda: int("x") for number in range(6)}

        with pytest.raises(
            AssertionError, match=r"(?s)^wrong 0: .*ValueError.*wrong 4: .*\nNo more calls were made\.$"
        ):
            assert_cheap(calls, seconds=0.1)

    def test_undoes_what_a_call_writes(self, token):
        def write():
            token.integrator.members.create(username="ana")

        assert_cheap({"once": write, "again": write}, seconds=1)

        assert not token.integrator.members.exists()

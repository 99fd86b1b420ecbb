"""The list of the environment's variables, and what is written from it."""

import re

from config.checks import problems
from config.management.commands import environment
from config.variables import VARIABLES
from tests.production import ENVIRONMENT

_ASSIGNMENT = re.compile(r"^(#?)([A-Z_0-9]+)=(.*)$", re.MULTILINE)


def assigned(mark):
    return {name: value for hash_, name, value in _ASSIGNMENT.findall(environment.example()) if hash_ == mark}


class TestExample:
    def test_is_current(self):
        assert environment.EXAMPLE.read_text() == environment.example(), "run: manage.py environment"

    def test_has_every_variable_of_production(self):
        names = {name for name, variable in VARIABLES.items() if not variable.embedded_only}

        assert assigned("") | assigned("#") == {name: VARIABLES[name].default for name in names}

    def test_leaves_open_what_production_requires(self):
        assert assigned("") == dict.fromkeys(ENVIRONMENT, "")

    def test_has_defaults_that_are_accepted(self):
        given = {name: value for name, value in assigned("#").items() if value}

        assert problems({**ENVIRONMENT, **given}) == []


class TestTable:
    def test_is_current(self):
        assert environment.DOCUMENT.read_text() == environment.document(), "run: manage.py environment"

    def test_has_a_row_for_each_variable(self):
        rows = re.findall(r"^\| `([A-Z_0-9]+)` \| \S.* \|.* \|$", environment.table(), re.MULTILINE)

        assert rows == list(VARIABLES)

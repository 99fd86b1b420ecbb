from dataclasses import dataclass

from config.value_checks import Check


@dataclass(frozen=True)
class Variable:
    """A variable of the environment.

    `meaning` and `without`, which says what holds without a value where `default` alone does not, are Markdown. `check`
    is applied to each value, `in_production` there only. `required` says how to make a value that production has to
    have. A variable that `may_be_empty` counts as unset then. One that is `embedded_only` has no use in production.
    """

    name: str
    meaning: str
    default: str = ""
    without: str = ""
    check: Check | None = None
    in_production: Check | None = None
    may_be_empty: bool = False
    required: str = ""
    embedded_only: bool = False

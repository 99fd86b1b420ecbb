import ast
from collections import Counter

import pytest

from tests.mutation.mutants import mutants_of, sample, spliced
from tests.mutation.operators import EARLY, OPERATORS, changes

# Operator, the body of a function, and what it becomes
CHANGES = [
    ("keyword of a query left out", "rows.filter(a=1, b=2)", "(rows.filter(b=2))"),
    ("keyword of a query left out", "rows.filter(any_of(a), b=2)", "(rows.filter(b=2))"),
    ("keyword of a query left out", "rows.exclude(Q(a), Q(b))", "(rows.exclude(Q(a)))"),
    ("keyword of a call left out", "send(text, by=by)", "(send(text))"),
    ("condition left out", "return a and b", "return (a)"),
    ("condition left out", "return any_of(a) & ~Q(b)", "return (any_of(a))"),
    ("condition left out", "return ~Q(a) | ~Q(b)", "return (~Q(b))"),
    ("member of a set left out", "return x in {S.A, S.B}", "return x in ({S.B})"),
    ("member of a set left out", "return x not in (a, 'b', *c)", "return x not in ((a, 'b'))"),
    ("member of a set left out", "_SIDES = ('height', 'width')", "_SIDES = (('width',))"),
    ("member of a set left out", "SIDES: Final = frozenset([*_SIDES, other])", "SIDES: Final = frozenset(([other]))"),
    ("part of a key left out", "cache.get_key(f'{a}:{b}')", "cache.get_key((f':{b}'))"),
    ("part of a key left out", "return json.dumps([a, b])", "return json.dumps(([b]))"),
    ("part of a key left out", "return '/'.join((a, *b))", "return '/'.join(((a,)))"),
    (
        "part of a key left out",
        "trip: list = [a, (b, c)]\nreturn sha256(repr(trip))",
        "trip: list = [a, ((b,))]\nreturn sha256(repr(trip))",
    ),
    ("boundary moved", "return a < b", "return (a <= b)"),
    ("number one more", "return 5", "return 6"),
    ("rounded otherwise", "return x.quantize(CENT, ROUND_HALF_UP)", "return x.quantize(CENT, ROUND_HALF_EVEN)"),
    ("local time for UTC, or back", "return timezone.localdate(at)", "return (at).date()"),
    ("call left out", "Driver.objects.for_account(account).free()", "Driver.objects.all().free()"),
    ("call left out", "Driver.objects.for_account(account).free()", "(Driver.objects.for_account(account))"),
    ("call left out", "integrator.pickup_points.active()", "integrator.pickup_points.all()"),
    ("call left out", "wake_up.send_on_commit(task)", "pass"),
    ("call left out", "publish_on_commit(message)", f"{EARLY}publish_on_commit(message)"),
    ("call left out", "transaction.on_commit(f)", f"{EARLY}transaction.on_commit(f)"),
    ("call left out", "transaction.on_commit(f)", "pass"),
    ("assignment left out", "row.status = 1", "pass"),
    ("decorator or context left out", "with lock(): pass", "with __import__('contextlib').nullcontext(): pass"),
    ("first for all", "for each in rows: use(each)", "for each in list(rows)[:1]: use(each)"),
    ("truth for None, or back", "return a is not None", "return (a)"),
    ("statements swapped", "save(a)\nsend(b)", "send(b)\nsave(a)"),
    ("error swallowed, or not handled", "try: a()\nexcept E: raise", "try: a()\nexcept E: pass"),
    ("refusal left out", "if a: raise E", "if False: raise E"),
    ("opposite", "return min(a, b)", "return max(a, b)"),
    ("another constant", "return S.A, S.B", "return S.B, S.B"),
    ("another parameter", "return first", "return second"),
    ("SQL changed", "return 'SELECT 1 WHERE a AND b'", "return 'SELECT 1 WHERE a OR b'"),
]


def test_each_operator_has_an_example():
    assert {operator for operator, _before, _after in CHANGES} == OPERATORS.keys()


@pytest.mark.parametrize(("operator", "before", "after"), CHANGES)
def test_makes_its_change(operator, before, after):
    before, after = (
        "def function(first: int, second: int):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
        for body in (before, after)
    )

    made = [spliced(before, change) for name, change, _nodes in changes(ast.parse(before)) if name == operator]

    assert after in made


def test_a_mutant_stays_the_same_when_its_function_moves(tmp_path, monkeypatch):
    def keys(source):
        (tmp_path / "module.py").write_text(source)
        return [mutant.key for mutant in sample(mutants_of(["module.py"]), 9, "1")]

    monkeypatch.setattr("tests.mutation.mutants.BASE_DIR", tmp_path)
    function = "def function(a, b):\n    return 'ç' if a < b else 5\n"

    assert len(keys(function)) == 3
    assert keys(function) == keys(f"import that\n\n\n{function}")


def test_a_sample_is_spread_over_the_operators(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.mutation.mutants.BASE_DIR", tmp_path)
    (tmp_path / "module.py").write_text(
        "".join(f"def function_{number}(a, b):\n    return a < b and b == {number}\n" for number in range(9))
    )

    found = sample(mutants_of(["module.py"]), 6, "1")

    assert Counter(mutant.operator for mutant in found) == dict.fromkeys(
        ("boundary moved", "condition left out", "number one more"), 2
    )


def test_texts_annotations_and_log_lines_are_no_mutants(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.mutation.mutants.BASE_DIR", tmp_path)
    (tmp_path / "module.py").write_text(
        "def function(a: Literal[5]) -> Literal[6]:\n    _log.info('%s', 7)\n    return _('%s', n=8)\n"
    )

    assert list(mutants_of(["module.py"])) == []

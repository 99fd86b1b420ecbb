"""`make lint` fails when a tool of it crashes, also one that goes on and ends with 0."""

import re
import subprocess
import sys

import pytest

from config.env import BASE_DIR

CRASHES = [sys.executable, "-m", "tests.crashes"]
BANDIT = f"{sys.prefix}/bin/bandit"


def run(*command):
    return subprocess.run([*CRASHES, *command], cwd=BASE_DIR, capture_output=True, text=True, check=False, timeout=50)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("print('fine')", 0),
        ("import sys; sys.exit(3)", 3),
        ("import sys; print('4 files left unchanged', file=sys.stderr)", 0),
        ("import traceback\ntry: [][0]\nexcept IndexError: traceback.print_exc()", 1),
        ("import sys; sys.stderr.write('thread main panicked at src/lib.rs')", 1),
    ],
)
def test_the_status_is_that_of_the_tool_unless_a_part_crashed(code, status):
    done = run(sys.executable, "-c", code)

    assert done.returncode == status
    assert ("crashed, see above" in done.stderr) is (status == 1)


def test_bandit_fails_when_one_of_its_checks_raises(tmp_path):
    file = tmp_path / "page.py"
    file.write_text("from django.utils.safestring import SafeString\nSafeString()\n")

    alone = subprocess.run([BANDIT, "--quiet", str(file)], capture_output=True, check=False, timeout=50)

    assert (alone.returncode, b"IndexError" in alone.stderr) == (0, True)
    assert run(BANDIT, "--quiet", str(file)).returncode == 1


def test_every_tool_of_the_makefile_is_run_so():
    text = (BASE_DIR / "Makefile").read_text()
    recipes = re.findall(r"^(?:lint|security):.*\n((?:\t.*\n)+)", text, re.MULTILINE)

    lines = [line for recipe in recipes for line in recipe.splitlines()]
    assert len(lines) >= 10
    allowed = r"\$\(CHECKED\)|\btest \$\$\? = 1$|git ls-files --error|^\t@#"
    assert [line for line in lines if not re.search(allowed, line)] == []

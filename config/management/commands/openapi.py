import json
from typing import Any

from django.core.management.base import BaseCommand
from drf_spectacular.generators import SchemaGenerator

from panel.guide.description import FILE


def describe() -> dict[str, Any]:
    """The OpenAPI 3.1 description of both APIs, made by drf-spectacular from the URLs and view sets."""
    description: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return description


def content() -> str:
    """What the file of the description should hold."""
    return json.dumps(describe(), ensure_ascii=False, indent=1) + "\n"


class Command(BaseCommand):
    help = "Write the OpenAPI description of both APIs into panel/guide/openapi.json."

    def handle(self, *_args: Any, **_options: Any) -> None:
        text = content()
        FILE.write_text(text, encoding="utf-8")
        self.stdout.write(f"{FILE.name}: {len(text):,} characters")

from typing import Any

from django.core.management.base import BaseCommand

from config.openapi import files


class Command(BaseCommand):
    help = "Write the OpenAPI description of both APIs into panel/guide/. Needs the development tools."

    def handle(self, *_args: Any, **_options: Any) -> None:
        for path, text in files.contents().items():
            path.write_text(text, encoding="utf-8")
            self.stdout.write(f"{path.name}: {len(text):,} characters")

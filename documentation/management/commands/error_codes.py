"""Writes docs/guide/error-codes.md from the catalogue of error codes."""

from typing import Any

from django.core.management.base import BaseCommand

from documentation import error_codes, pages


class Command(BaseCommand):
    help = "Write docs/guide/error-codes.md from documentation/catalogue/."

    def handle(self, *args: Any, **options: Any) -> None:
        (pages.FOLDER / "error-codes.md").write_text(error_codes.markdown())

"""Writes error-codes.md of the guide, in each language, from the catalogue of error codes."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from panel.guide import error_codes, pages


class Command(BaseCommand):
    help = "Write error-codes.md of docs/guide/, in each language, from panel/guide/catalogue/."

    def handle(self, *args: Any, **options: Any) -> None:
        for language, _name in settings.LANGUAGES:
            (pages.folder(language) / "error-codes.md").write_text(error_codes.markdown(language))

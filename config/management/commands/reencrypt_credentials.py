import json
import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from common import credentials
from config import reencryption
from config.reencryption import Found

_MOST_PASSES = 10
_PAUSE_SECONDS = 1


class Command(BaseCommand):
    help = (
        "Re-encrypt all ciphertexts in the database with the first of CREDENTIALS_KEYS, while the service runs. Prints "
        '{"complete", "first_key", "reencrypted", "under_key", "unreadable"}: rows rewritten, ciphertexts under each '
        "key (named by its fingerprint), and ids of rows that no key decrypts. Exits with 1 unless complete, which "
        "means that the other keys can be removed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="report only, change nothing")

    def handle(self, *_args: Any, **options: Any) -> None:
        answer = self._report(self._passes(rewrite=not options["check"]))
        self.stdout.write(json.dumps(answer))
        if not answer["complete"]:
            sys.exit(1)

    def _passes(self, *, rewrite: bool) -> list[dict[str, Found]]:
        """Results of all passes. The last one had nothing to rewrite, unless rows stayed locked throughout."""
        passes = [self._pass(rewrite=rewrite)]
        while rewrite and len(passes) < _MOST_PASSES and _is_left(passes[-1]):
            if len(passes) > 1:
                time.sleep(_PAUSE_SECONDS)  # until locked rows are released
            passes.append(self._pass(rewrite=True))
        return passes

    def _pass(self, *, rewrite: bool) -> dict[str, Found]:
        met = {}
        for column in reencryption.columns():
            met[str(column)] = found = reencryption.scan(column, rewrite=rewrite)
            self.stderr.write(
                f"{column}: {found.under_key.total()} ciphertexts, {found.rewritten} rows re-encrypted,"
                f" {len(found.unreadable)} unreadable"
            )
        return met

    def _report(self, passes: list[dict[str, Found]]) -> dict[str, Any]:
        last = passes[-1]
        keys = [credentials.fingerprint(key) for key in settings.CREDENTIALS_KEYS]
        return {
            "complete": all(found.is_complete for found in last.values()),
            "first_key": credentials.first_key(),
            "reencrypted": {name: sum(met[name].rewritten for met in passes) for name in last},
            "under_key": {
                key: {name: found.under_key[key] for name, found in last.items() if found.under_key[key]}
                for key in keys
            },
            "unreadable": {name: found.unreadable for name, found in last.items() if found.unreadable},
        }


def _is_left(met: dict[str, Found]) -> bool:
    """Whether ciphertexts with another key were found. Undecryptable rows need no further pass."""
    return any(set(found.under_key) - {credentials.first_key()} for found in met.values())

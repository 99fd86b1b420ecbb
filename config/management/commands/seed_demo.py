import json
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from config.local.demo import data


class Command(BaseCommand):
    help = (
        "Fill an empty database with tariffs, a demo account, a seller, drivers and a log-in. Prints their credentials "
        "as JSON, the only time that they are shown; null for a database in use, which is left unchanged."
    )

    @transaction.atomic
    def handle(self, *_args: Any, **_options: Any) -> None:
        self.stdout.write(json.dumps(data.seed()))

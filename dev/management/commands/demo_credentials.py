from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from config.environment import Web
from dev.banner import commands, credentials
from dev.demo import data


class Command(BaseCommand):
    help = "Replace the credentials of the demo's log-in, account and seller, and print commands to paste."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--url", default=f"http://127.0.0.1:{Web().PORT}", help="the running service")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            with transaction.atomic():
                renewed = data.renew_credentials()
        except ObjectDoesNotExist as error:
            raise CommandError(f"The demo is not in this database: {error}") from error
        self.stdout.write("\n".join([*commands(options["url"], renewed), "", *credentials(renewed)]))

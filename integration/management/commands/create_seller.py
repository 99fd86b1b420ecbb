from argparse import ArgumentParser
from typing import Any

from django.db import transaction
from django.utils import timezone

from integration.actions import keys, sellers
from integration.errors import IntegrationError
from integration.management.output import ScriptCommand


class Command(ScriptCommand):
    help = 'Create a seller with its companies and a key. Prints {"seller", "api_key", "reference"}.'

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument(
            "--company", action="extend", nargs="+", required=True, metavar="DOCUMENT", help="CNPJ or CPF; repeatable"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            with transaction.atomic():
                seller = sellers.open_(name=options["name"], documents=options["company"])
                issued = keys.issue(seller=seller, by="command create_seller", at=timezone.now())
        except IntegrationError as error:
            self.refuse(error)
        self.answer(seller=str(seller.pk), api_key=issued.clear_text, reference=seller.reference)

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from common import clock
from common.brazil import states
from common.commands import JSONCommand
from delivery.places import address_files, address_imports
from delivery.places.address_files import Scope
from delivery.places.models import AddressCity, Form


class Command(JSONCommand):
    help = (
        "Fill the table of addresses, in which drop-offs without coordinates are located if no geocoder is set, list "
        'its cities, or clear it. Prints {"error", "detail"} and exits with 1 for a file that cannot be imported.'
    )
    in_transaction = False  # one for each city

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        imported = actions.add_parser("import", help="Import the cities of a file, in the place of an earlier import.")
        imported.add_argument("file", type=Path)
        imported.add_argument("--form", choices=[each.value for each in Form], help="Found out if it is not named.")
        actions.add_parser("list", help="List the cities with their addresses.")
        for action in (imported, actions.add_parser("clear", help="Delete all cities, or those that are named.")):
            action.add_argument("--state", default="", metavar="UF")
            action.add_argument("--city", default="", metavar="NAME")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        if options["action"] == "list":
            return {"cities": list(map(_shown, AddressCity.objects.order_by("state", "plain_name", "form")))}
        scope = _scope(options["state"], options["city"])
        if options["action"] == "clear":
            return {"deleted": address_imports.clear(scope)}
        path = options["file"]
        form = Form(options["form"]) if options["form"] else address_files.form_of(path)
        return address_imports.run(path, form=form, scope=scope, at=clock.now(), tell=self.stderr.write)


def _scope(state: str, city: str) -> Scope:
    found = states.state_named(state)
    if state and not found:
        raise CommandError(f"No state is called {state}. Give its two letters, such as SP.")
    return Scope(found, city)


def _shown(city: AddressCity) -> dict[str, Any]:
    return {
        "city": city.name,
        "state": city.state,
        "form": city.form,
        "addresses": city.addresses,
        "importedAt": city.imported_at.isoformat(timespec="seconds"),
    }

import importlib.util
from collections.abc import Iterable
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cache
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import django
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils.translation.template import templatize

from common.errors import DomainError
from common.pages import device_data
from common.webhooks import address_guard
from common.webhooks import errors as webhook_errors
from config.env import PACKAGES
from config.management.commands import openapi
from delivery import errors
from panel.guide import description
from panel.guide.catalogue import CODES

LOCALE = "pt_BR"
FOLDER = settings.BASE_DIR / "locale" / LOCALE / "LC_MESSAGES"
_NOT_THE_PRODUCT = {"benchmarks", "migrations"}
# Packages without a Brazilian Portuguese translation.
_UNTRANSLATED_PACKAGES = ("unfold",)
_UNUSED = {"constance", "guardian", "location_field", "simple_history", "unfold_crispy", "components.py"}

# Texts of Django whose own Portuguese is wrong here: those of its admin suppose that every name is masculine.
_OF_DJANGO = (
    "The {name} “{obj}” was added successfully.",
    "The {name} “{obj}” was added successfully. You may add another {name} below.",
    "The {name} “{obj}” was changed successfully.",
    "The {name} “{obj}” was changed successfully. You may edit it again below.",
    "The {name} “{obj}” was changed successfully. You may add another {name} below.",
    "The %(name)s “%(obj)s” was deleted successfully.",
    "Add another %(verbose_name)s",
    "Add another %(model)s",
    "Save and add another",
    "Sat",  # "Sab" there
)
_KEYWORDS: dict[str, Any] = {
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "_": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    # Pages translate the messages of refusals, see `delivery.refusals`. Both areas have a MalformedBody, which no page
    # shows: the texts of area B are in Portuguese.
    **{
        name: None
        for module in (errors, address_guard, webhook_errors, device_data)
        for name, kind in vars(module).items()
        if isinstance(kind, type) and issubclass(kind, DomainError) and name != "MalformedBody"
    },
}


def collected() -> Catalog:
    """Every translatable text of the project, untranslated."""
    catalog = Catalog(locale=LOCALE, fuzzy=False)
    for path in sorted(_sources()):
        source = path.read_text()
        if path.suffix != ".py":
            # The text is parsed as Python, where indentation matters.
            source = "\n".join(line.strip() for line in templatize(source).splitlines())
        is_own = path.is_relative_to(settings.BASE_DIR) and ".venv" not in path.parts
        for _line, message, _comments, context in extract("python", BytesIO(source.encode()), _KEYWORDS):
            if is_own or not _is_translated_by_django(message):
                catalog.add(message, context=context)
    for text in _OF_DJANGO:
        catalog.add(text)
    for text in sorted(description.texts(openapi.describe())):
        catalog.add(text)
    # What an error code means. The APIs have it in English.
    for entry in CODES.values():
        catalog.add(entry.meaning)
        catalog.add(entry.remedy)
        catalog.add(entry.repeat.value)
    # Of refusals that are raised without a text of their own.
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, DomainError) and kind.message:
            catalog.add(kind.message)
    return catalog


def translated() -> Catalog:
    """The project's current translations."""
    with (FOLDER / "django.po").open("rb") as file:
        return read_po(file, locale=LOCALE)


def update(catalog: Catalog, found: Catalog) -> None:
    """Give the catalog the texts that were found. Changed ones keep their translation as fuzzy, new ones are empty.

    While a text has no translation, those of texts that are gone stay in the file, as obsolete.
    """
    for message in catalog.obsolete.values():
        catalog[message.id] = message
    catalog.obsolete.clear()
    catalog.update(found, no_fuzzy_matching=True, update_header_comment=False)
    gone = {each.id: each for each in catalog.obsolete.values() if isinstance(each.id, str) and each.string}
    for message in catalog:
        if isinstance(message.id, str) and message.id and not message.string:
            for closest in get_close_matches(message.id, gone, 1):
                message.string = gone.pop(closest).string
                message.flags.add("fuzzy")
    if not without_translation(catalog):
        catalog.obsolete.clear()


def without_translation(catalog: Iterable[Message]) -> list[str]:
    """The texts whose translation is missing or fuzzy, of plurals the first form."""
    found = []
    for message in catalog:
        forms = [message.string] if isinstance(message.string, str) else message.string or [""]
        if message.id and (message.fuzzy or not all(forms)):
            found.append(message.id if isinstance(message.id, str) else message.id[0])
    return found


def compiled(catalog: Catalog) -> bytes:
    # Otherwise the header would contain the current time.
    catalog.creation_date = catalog.revision_date = datetime.fromtimestamp(0, tz=UTC)
    out = BytesIO()
    write_mo(out, catalog)
    return out.getvalue()


def _is_translated_by_django(message: str | tuple[str, ...]) -> bool:
    """Whether Django translates this text, as it does most texts of packages for its admin."""
    text = message if isinstance(message, str) else message[0]
    return any(text in catalog for catalog in _django_catalogs())


@cache
def _django_catalogs() -> list[Catalog]:
    paths = Path(django.__file__).parent.rglob(f"{LOCALE}/LC_MESSAGES/django.mo")
    return [read_mo(BytesIO(path.read_bytes())) for path in paths]


def _within(path: Path) -> Path:
    """The path in the checkout, whose own folder may have any name."""
    return path.relative_to(settings.BASE_DIR)


def _sources() -> list[Path]:
    templates = settings.BASE_DIR / "templates"
    found = [*templates.rglob("*.html"), *templates.glob("mail/*.txt")]
    for package in PACKAGES:
        found += [path for path in package.rglob("*.py") if not _NOT_THE_PRODUCT.intersection(_within(path).parts)]
    for name in _UNTRANSLATED_PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            found += [
                path
                for path in Path(spec.origin).parent.rglob("*")
                if path.suffix in {".html", ".py"} and not _UNUSED.intersection(path.parts)
            ]
    return found


# Header lines that change with each run or contain nothing.
_VOLATILE_HEADERS = tuple(
    f'"{name}:'
    for name in (
        "POT-Creation-Date", "PO-Revision-Date", "Project-Id-Version", "Report-Msgid-Bugs-To", "Last-Translator",
        "Language-Team", "Generated-By",
    )
)  # fmt: skip  # a list


class Command(BaseCommand):
    help = "Collect the texts of pages into locale/, keep their translations, and compile them. Needs the dev tools."

    def handle(self, *_args: Any, **_options: Any) -> None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        path = FOLDER / "django.po"
        if path.exists():
            catalog = translated()
            update(catalog, collected())
        else:
            catalog = collected()
        out = BytesIO()
        write_po(out, catalog, omit_header=False, sort_output=True, width=120)
        path.write_bytes(_without_dates(out.getvalue()))
        (FOLDER / "django.mo").write_bytes(compiled(translated()))
        self.stdout.write(f"{len(catalog)} texts, {len(without_translation(catalog))} without a translation")


def _without_dates(text: bytes) -> bytes:
    """Drop headers with dates, so that the file changes only with its texts."""
    return "".join(line for line in StringIO(text.decode()) if not line.startswith(_VOLATILE_HEADERS)).encode()

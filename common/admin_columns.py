"""Columns and read-only fields of the admin that are written as the panel writes them (`common.formats`)."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Model
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common import formats
from common.actors import actor_name

Column = Callable[[Any], Any]


def column(field: str, title: Any, write: Callable[[Any], Any], *, is_long: bool = False) -> Column:
    """The attribute `field` of a row, written by `write`; a dash where it is empty. For lists, forms and inlines.

    Its text stays in one line unless it `is_long`.
    """

    @admin.display(description=title, ordering=field)
    def shown(row: Any) -> Any:
        value = getattr(row, field)
        if value is None or value == "":
            return None
        text = write(value)
        return text if is_long else format_html('<span class="rota-short">{}</span>', text)

    shown.__name__ = field
    return shown


def identity(title: Any) -> Column:
    """The column of the row's own id, which links to its page; `list_display_links` is None beside it."""

    @admin.display(description=title)
    def shown(row: Model) -> SafeString:
        return linked(row)

    shown.__name__ = "identity"
    return shown


def short(value: UUID | str) -> SafeString:
    """The end of an id with a button that copies all of it."""
    return format_html(
        '<span class="rota-id"><code title="{value}">{end}</code>{button}</span>',
        value=value,
        end=formats.short_id(value),
        button=_copy(value),
    )


def pill(text: Any, colour: str = "", *, title: Any = "") -> SafeString:
    """A state as the panel's badges show it. `colour`: good, info, warn, bad; empty for grey."""
    return format_html('<span class="rota-pill{}" title="{}">{}</span>', f" is-{colour}" if colour else "", title, text)


def copyable(value: str) -> SafeString:
    """A code that people compare in full, such as an access key, with a button that copies it."""
    return format_html('<span class="rota-id"><code>{}</code>{}</span>', value, _copy(value))


def copy_button(value: str, text: Any) -> SafeString:
    """A button that copies a long text and says so."""
    return format_html('<button type="button" class="rota-button is-secondary" data-copy="{}">{}</button>', value, text)


def linked(row: Model) -> SafeString:
    """The end of a row's id as a link to the row's page, with a button that copies the id."""
    opts = row._meta
    return format_html(
        '<span class="rota-id"><a class="rota-link" href="{url}" title="{pk}">{end}</a>{button}</span>',
        url=reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[row.pk]),
        pk=row.pk,
        end=formats.short_id(row.pk),
        button=_copy(row.pk),
    )


def _copy(value: UUID | str) -> SafeString:
    # The symbol is drawn by ids.css: as text it would become part of what is copied with the cell.
    label = _("Copy %(value)s") % {"value": formats.short_id(value)}
    return format_html('<button type="button" class="rota-copy" data-copy="{}" aria-label="{}"></button>', value, label)


# Columns of credentials.
CREATED_BY = column("created_by", gettext_lazy("created by"), actor_name)


def ago_or_never(value: datetime | None) -> SafeString:
    """How long ago, in a column whose heading says what."""
    return format_html('<span class="rota-named">{}</span>', formats.ago(value) if value else _("never"))


@admin.display(description=gettext_lazy("last used"), ordering="last_used_at")
def LAST_USED(row: Any) -> str:  # noqa: N802  # a column, as the others
    """How long ago a credential was used."""
    return ago_or_never(row.last_used_at)


REVOKED_BY = column("revoked_by", gettext_lazy("revoked by"), actor_name)

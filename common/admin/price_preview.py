"""Forms, such as those of prices, which show what they change, with examples, before they are saved."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from common.measures import rise
from common.postgresql.row_history import Difference, differences


@dataclass(frozen=True)
class Preview:
    """What saving the form would do: to columns of the row, none for a new one, and to the prices of examples."""

    columns: list[Difference]
    examples: list[Difference]

    @property
    def digest(self) -> str:
        return sha256(repr(self).encode()).hexdigest()


class PreviewedForm(forms.ModelForm[Any]):
    """A form that is valid only when it is sent with the digest of the preview of its present effect.

    Otherwise it has a `preview`, which `admin/price_preview.html` shows above the fields as they were typed.
    """

    preview: Preview | None = None
    preview_title = _("Save these prices?")
    preview_note = _("Nothing is saved yet. Quotes use the new figures as soon as they are saved.")
    example_heading = _("Example")

    def examples(self, before: Any) -> Iterable[Difference]:
        """What follows from the row, such as prices, before and after.

        `before` is the stored row, None for a new one; the form's is `self.instance`.
        """
        raise NotImplementedError

    def is_valid(self) -> bool:
        if not super().is_valid() or not self.has_changed():
            return super().is_valid()
        model = type(self.instance)
        before = model._default_manager.filter(pk=self.instance.pk).first() if self.instance.pk else None
        columns = [each for each in model._meta.concrete_fields if not each.primary_key]
        changed = differences(columns, before, self.instance) if before else []
        preview = Preview(changed, list(self.examples(before)))
        if self.data.get("previewed") == preview.digest:
            return True
        self.preview = preview
        return False


def compared(
    name: str, old: Decimal | int | None, new: Decimal | int | None, *, write: Any, unserved: Any
) -> Difference:
    """An example: its prices as `write` writes them; None is `unserved`."""
    percent = rise(old, new) if old is not None and new is not None else None
    before, after = (str(unserved) if price is None else str(write(price)) for price in (old, new))
    return Difference(name, before, after, percent)

"""Forms which show what they change, with examples such as prices, before they are saved."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.measures import rise
from common.postgresql.row_history import Change, Difference, RowChange, differences


@dataclass(frozen=True)
class Preview:
    """What saving the form would do: to columns of the row, none for a new one, and to examples."""

    change: Change
    examples: list[Difference]
    concerned: str

    @property
    def digest(self) -> str:
        return sha256(repr((self.change.differences, self.examples)).encode()).hexdigest()


class PreviewedForm(forms.ModelForm[Any]):
    """A form that is valid only when it is sent with the digest of the preview of its present effect.

    Otherwise it has a `preview`, which `admin/form_preview.html` shows above the fields as they were typed.
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

    def concerned(self, before: Any) -> str:
        """Whom the change concerns, as a sentence. Nothing of forms that do not say it."""
        return ""

    def is_valid(self) -> bool:
        is_valid = super().is_valid()
        if not is_valid or not self.has_changed():
            return is_valid
        before = type(self.instance)._default_manager.filter(pk=self.instance.pk).first()
        columns = differences(before, self.instance) if before else []
        change = Change(self.instance, RowChange.Kind.CHANGED, columns)
        preview = Preview(change, list(self.examples(before)), self.concerned(before))
        if self.data.get("previewed") == preview.digest:
            return True
        self.preview = preview
        return False


def price_example(
    name: Any, old: Decimal | int | None, new: Decimal | int | None, *, write: Callable[[Any], Any]
) -> Difference:
    """Prices before and after as `write` writes them. None: what is not served."""
    before, after = (gettext("not served") if price is None else str(write(price)) for price in (old, new))
    return Difference(str(name), before, after, rise(old, new))

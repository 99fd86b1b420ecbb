import re

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from stdnum.br import cnpj, cpf
from stdnum.exceptions import ValidationError as WrongNumber

from common import fields, formats
from integration.models.seller import Seller

_LONGEST_DOCUMENT = len("11.222.333/0001-81")
_MASK = re.compile(r"[\s./-]+")


def compact_document(text: str) -> str:
    """A CNPJ or CPF without its mask, in upper case. Does not check it."""
    return _MASK.sub("", text).upper()


def validate_document(text: str) -> None:
    """Raise ValidationError unless `text` is a CNPJ (numeric or alphanumeric) or CPF with correct check digits."""
    # Numbers of one repeated digit have correct check digits, but are not assigned.
    kinds = (cnpj, cpf) if len(text) <= _LONGEST_DOCUMENT and len(set(text)) > 1 else ()
    for kind in kinds:
        try:
            kind.validate(text)
        except WrongNumber:
            continue
        return
    raise ValidationError(_("This is neither a CNPJ nor a CPF: its check digits do not fit."), code="invalid_document")


class Company(models.Model):
    """A sender of orders. The integer id is the `company_id` of status logs."""

    seller = models.ForeignKey(Seller, verbose_name=_("seller"), on_delete=models.PROTECT, related_name="companies")
    document = fields.CharField(
        _("document"), max_length=14, unique=True, validators=[validate_document], help_text=_("CNPJ or CPF.")
    )
    name = models.CharField(_("name"), max_length=120, blank=True)

    class Meta:
        verbose_name = _("company")
        verbose_name_plural = _("companies")
        ordering = ["document"]
        constraints = [
            models.CheckConstraint(
                name="company_document_compact",
                condition=Q(document__regex=r"^([0-9A-Z]{12}[0-9]{2}|[0-9]{11})$"),
                violation_error_message=_("Without its mask, in upper case."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} {formats.document(self.document)}".strip()

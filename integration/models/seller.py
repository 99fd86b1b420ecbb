import re
import secrets
from zoneinfo import ZoneInfo

import pgtrigger
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from stdnum.br import cnpj, cpf

from common import credentials, fields
from common.accounts import (
    Environment,
    LimitedAccount,
    Membership,
    Role,
    Suspendable,
    keeps_an_owner,
    suspension_is_whole,
    validate_name,
)
from common.api.authentication import Credential
from common.api.rate_limit import Limits
from common.brazil import formats, zones
from common.brazil.states import postcode_of, region_of
from common.fields import not_personal, one_of, personal
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from integration.errors import AccountSuspended
from integration.freight.models import FreightParameters


def environment_field() -> "models.CharField[str, str]":
    """The column of a row that belongs to one environment of its seller."""
    return models.CharField(
        _("environment"),
        max_length=7,
        choices=Environment,
        default=Environment.LIVE,
        db_default=Environment.LIVE,
        editable=False,
    )


# Without 0, 1, I and O, which are easily confused.
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"  # pragma: allowlist secret  # an alphabet
_REFERENCE_LENGTH = 10
_LONGEST_DOCUMENT = len("11.222.333/0001-81")
_MASK = re.compile(r"[\s./-]+")


def new_reference() -> str:
    """An identifier of a seller for support and logs. It is not secret and grants no access."""
    return "SEL-" + "".join(secrets.choice(_ALPHABET) for _index in range(_REFERENCE_LENGTH))


class Seller(Suspendable, LimitedAccount):
    """An account of area B. Its keys, companies, orders and invoices are not visible to other sellers."""

    suspended_word = pgettext_lazy("seller", "Suspended")

    name = not_personal(models.CharField(_("name"), max_length=120))
    reference = not_personal(
        fields.CharField(_("reference"), max_length=20, unique=True, default=new_reference, editable=False)
    )
    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        verbose_name=_("members"),
        related_name="sellers",
        through="SellerMembership",
        blank=True,
        help_text=_("People who see this seller, and no other, in the panel."),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    mails_receivers = models.BooleanField(
        _("e-mails to receivers"),
        default=False,
        db_default=False,
        help_text=_("Receivers are told by e-mail how their live orders stand."),
    )

    invoice_quota_mb = models.PositiveIntegerField(
        _("space for invoices (MB)"),
        null=True,
        blank=True,
        help_text=_("In each environment. Empty: 2048. 0: no limit."),
    )
    invoices_per_day = models.PositiveIntegerField(
        _("invoices in 24 hours"),
        null=True,
        blank=True,
        help_text=_("In each environment. Empty: 5000. 0: no limit."),
    )
    # Maintained by a trigger of `Invoice`, and so correct for every way of writing and deleting invoices.
    invoice_bytes = models.BigIntegerField(_("bytes of invoices"), default=0, db_default=0, editable=False)
    sandbox_invoice_bytes = models.BigIntegerField(_("bytes of test invoices"), default=0, db_default=0, editable=False)

    @cached_property
    def zone(self) -> ZoneInfo:
        """The time zone of the first of its companies with a CEP."""
        sender = self.companies.exclude(postcode="").order_by("pk").first()
        return sender.zone if sender else zones.of_address({})

    class Meta:
        verbose_name = _("seller")
        verbose_name_plural = _("sellers")
        ordering = ["name"]
        constraints = [suspension_is_whole("seller_suspension_has_who_and_why")]

    def clean(self) -> None:
        super().clean()
        validate_name(self.name)

    def __str__(self) -> str:
        return f"{self.name} ({self.reference})"

    def locked(self) -> "Seller":
        """The current row, with a lock that serialises writes of this seller until the transaction ends."""
        return Seller.objects.select_for_update(no_key=True).get(pk=self.pk)

    def bytes_in(self, environment: str) -> int:
        """How much its invoices of an environment take."""
        return self.invoice_bytes if environment == Environment.LIVE else self.sandbox_invoice_bytes

    def check_active(self) -> None:
        """Raise AccountSuspended while the seller is suspended."""
        if self.is_suspended:
            raise AccountSuspended


class SellerMembership(Membership):
    """A person who sees a seller in the panel."""

    # The unique index begins with it.
    seller = models.ForeignKey(Seller, on_delete=models.CASCADE, related_name="memberships", db_index=False)

    class Meta(Membership.Meta):
        db_table = "integration_seller_members"  # from when it held no role
        unique_together = [("seller", "user")]
        constraints = [one_of("seller_membership_role", "role", Role.values)]
        triggers = [
            pgtrigger.ReadOnly(name="seller_membership_stays", fields=["seller", "user"]),
            keeps_an_owner("seller_keeps_an_owner", column="seller_id", accounts="integration_seller"),
        ]


def compact_document(text: str) -> str:
    """A CNPJ or CPF without its mask, in upper case. Does not check it."""
    return _MASK.sub("", text).upper()


def is_document(text: str) -> bool:
    """Whether `text` is a CNPJ (numeric or alphanumeric) or a CPF with correct check digits."""
    # Numbers of one repeated digit have correct check digits, but are not assigned.
    is_possible = len(text) <= _LONGEST_DOCUMENT and text.isascii() and len(set(text)) > 1
    return is_possible and (cpf.is_valid(text) or cnpj.is_valid(text))


def validate_document(text: str) -> None:
    """Raise ValidationError unless `text` is a CNPJ or a CPF."""
    if not is_document(text):
        message = _("This is neither a CNPJ nor a CPF: its check digits do not fit.")
        raise ValidationError(message, code="invalid_document")


def validate_postcode(text: str) -> None:
    """Raise ValidationError unless `text` is eight digits that a region has."""
    if postcode_of(text) != text or region_of(text) is None:
        raise ValidationError(_("No region has this CEP. It has eight digits."), code="invalid_postcode")


class Company(models.Model):
    """A sender of orders. The integer id is the `company_id` of status logs."""

    seller = models.ForeignKey(Seller, verbose_name=_("seller"), on_delete=models.PROTECT, related_name="companies")
    document = personal(
        fields.CharField(
            _("document"), max_length=14, unique=True, validators=[validate_document], help_text=_("CNPJ or CPF.")
        )
    )
    name = personal(models.CharField(_("name"), max_length=120, blank=True))
    postcode = personal(
        fields.CharField(
            _("origin CEP"),
            max_length=8,
            blank=True,
            db_default="",
            validators=[validate_postcode],
            help_text=_("Where its parcels leave from. Orders get a freight from here; without it they get none."),
        )
    )

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

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of where its parcels leave from."""
        return zones.of_address({"zipcode": self.postcode})


class ApiKey(Credential):
    """An API key of a seller. Only the digest of its text is stored; the text is shown once."""

    seller = models.ForeignKey(Seller, verbose_name=_("seller"), on_delete=models.CASCADE, related_name="keys")
    environment = models.CharField(
        _("environment"),
        max_length=7,
        choices=Environment,
        default=Environment.LIVE,
        db_default=Environment.LIVE,
        help_text=_("A test key sees, and makes, orders of the sandbox only, which a simulated carrier moves."),
    )
    name = not_personal(
        models.CharField(
            _("name"), max_length=60, blank=True, db_default="", help_text=_("For people: the system that uses it.")
        )
    )
    hint = not_personal(
        models.CharField(_("key"), max_length=20, editable=False, help_text=_("Its beginning and end."))
    )

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        ordering = ["-created_at"]
        constraints = [one_of("api_key_environment", "environment", Environment.values)]

    @property
    def title(self) -> str:
        """Its name with the hint, or the hint alone."""
        return f"{self.name} ({self.hint})" if self.name else self.hint

    @property
    def account(self) -> str:
        return self.seller.reference

    @property
    def rate_limits(self) -> Limits:
        return self.seller.rate_limits

    @staticmethod
    def find(text: str) -> "ApiKey | None":
        """The key with this clear text, revoked or not, with its seller and `heaviest_g`; or None."""
        return _BY_DIGEST.first(digest=credentials.digest(text))


# What authentication and the calls need of them.
_NEEDED = [
    "digest", "environment", "hint", "revoked_at", "last_used_at", "seller__reference", "seller__suspended_at",
    "seller__rate_limit_per_second", "seller__rate_limit_per_hour",
]  # fmt: skip  # a list of names
_BY_DIGEST = CompiledQuery(
    lambda: (
        ApiKey.objects.filter(digest=Parameter("digest"))
        .select_related("seller")
        .only(*_NEEDED)
        # The maximum of a shipment. A statement of its own takes a twentieth of the time in which an order is created.
        .annotate(heaviest_g=FreightParameters.heaviest_g())
        .order_by()[:1]
    )
)

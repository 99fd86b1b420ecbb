"""Carriers: who moves the orders that are assigned to them, their keys, and what they have reported."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from common import credentials
from common.accounts import LimitedAccount, validate_name
from common.api.authentication import Credential
from common.api.rate_limit import Limits
from common.brazil.states import STATES, Kind
from common.fields import not_personal, one_of
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from integration import words


class Carrier(LimitedAccount):
    """A company that collects, carries and delivers the orders that are assigned to it."""

    name = not_personal(models.CharField(_("name"), max_length=120))
    active = models.BooleanField(
        _("active"),
        default=True,
        help_text=_("If not, its keys are refused and no order is assigned to it. It keeps the orders that it has."),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("carrier")
        verbose_name_plural = _("carriers")
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["name"],
                name="carrier_has_a_name_of_its_own",
                violation_error_message=_("Another carrier has this name."),
            )
        ]

    def clean(self) -> None:
        super().clean()
        validate_name(self.name)

    def __str__(self) -> str:
        return self.name

    @property
    def source(self) -> str:
        """Its name in `MovementRecord.source`, which no other carrier ever has."""
        return f"carrier {self.pk}"

    @property
    def actor(self) -> str:
        """Its name in status logs."""
        return f"carrier {self.name}"


class CarrierKey(Credential):
    """A key with which a carrier reports events. Only the digest of its text is stored; the text is shown once."""

    carrier = models.ForeignKey(Carrier, verbose_name=_("carrier"), on_delete=models.PROTECT, related_name="keys")
    hint = not_personal(
        models.CharField(_("key"), max_length=24, editable=False, help_text=_("Its beginning and end."))
    )

    class Meta:
        verbose_name = _("carrier key")
        verbose_name_plural = _("carrier keys")
        ordering = ["-created_at"]

    @property
    def account(self) -> str:
        return self.carrier.source

    @property
    def rate_limits(self) -> Limits:
        return self.carrier.rate_limits

    @staticmethod
    def find(text: str) -> "CarrierKey | None":
        """The key with this clear text, revoked or not, with its carrier; or None."""
        return _BY_DIGEST.first(digest=credentials.digest(text))


_BY_DIGEST = CompiledQuery(
    lambda: CarrierKey.objects.filter(digest=Parameter("digest")).select_related("carrier").order_by()[:1]
)


class CarrierRule(models.Model):
    """Which carrier a new order is assigned to. An empty condition holds for every order.

    Of several rules that hold, that with a state decides, then that with a kind of region, then that with a service.
    """

    carrier = models.ForeignKey(Carrier, verbose_name=_("carrier"), on_delete=models.PROTECT, related_name="rules")
    state = models.CharField(
        _("destination state"),
        max_length=2,
        blank=True,
        choices=[("", _("any")), *((state, state) for state in sorted(STATES))],
    )
    region = models.CharField(
        _("capital or interior"),
        max_length=8,
        blank=True,
        choices=[("", _("any")), (Kind.CAPITAL.value, _("Capital")), (Kind.INTERIOR.value, _("Interior"))],
    )
    service = models.CharField(
        _("service"), max_length=5, blank=True, choices=[("", _("any")), *words.ORDER_SERVICES.items()]
    )

    class Meta:
        verbose_name = _("rule of assignment")
        verbose_name_plural = _("rules of assignment")
        ordering = ["-state", "-region", "-service"]
        constraints = [
            models.UniqueConstraint(
                fields=["state", "region", "service"],
                name="one_carrier_per_rule",
                violation_error_message=_("Another rule has the same conditions."),
            ),
            one_of("carrier_rule_state", "state", ["", *sorted(STATES)]),
            one_of("carrier_rule_region", "region", ["", *(kind.value for kind in Kind)]),
            one_of("carrier_rule_service", "service", ["", *words.ORDER_SERVICES]),
        ]

    def __str__(self) -> str:
        conditions = [
            self.state,
            self.region and self.get_region_display(),
            self.service and self.get_service_display(),
        ]
        return " · ".join(str(each) for each in conditions if each) or str(_("every order"))

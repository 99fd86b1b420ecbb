import math
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, Self

import pgtrigger
from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Func, Q
from django.utils.translation import gettext_lazy as _

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
from common.fields import not_personal, one_of, personal
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from common.webhooks.models import EndpointAction
from delivery import words
from delivery.errors import AccountSuspended
from delivery.geo.distance import Point, metres
from delivery.lifecycle import OnFailure
from delivery.models.bases import Identified, Located, on_earth

LARGEST_RADIUS_M = 5_000
# A degree of latitude is at least 110.57 km long, so a box of this height contains every circle of that radius.
_LARGEST_RADIUS_DEGREES = LARGEST_RADIUS_M / 110_500


class Integrator(Identified, Suspendable, LimitedAccount):
    """An account that requests deliveries, such as a shop or a marketplace."""

    name = not_personal(models.CharField(_("name"), max_length=120))
    allow_any_pickup = models.BooleanField(
        _("pick up anywhere"),
        default=False,
        help_text=_("Requests may start anywhere, not only near one of the account's pickup points."),
    )
    refuse_repeated_external_ids = models.BooleanField(
        _("refuse repeated external ids"),
        default=False,
        db_default=False,
        help_text=_(
            "A request is refused if the account has used one of its externalIds within 24 hours for an order that has "
            "not failed. Otherwise it is accepted with a warning."
        ),
    )
    approve_pickup_points = models.BooleanField(
        _("approve pickup points"),
        default=False,
        db_default=False,
        help_text=_("Pickup points that members add, move or activate wait until staff approve them in the panel."),
    )
    on_failure = models.CharField(
        _("when a drop-off fails"),
        max_length=6,
        choices=[(policy.value, words.POLICIES[policy]) for policy in OnFailure],
        default=OnFailure.RETURN.value,
        db_default=OnFailure.RETURN.value,
        help_text=_("Of drop-offs that are requested without onFailure."),
    )
    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        verbose_name=_("members"),
        related_name="integrators",
        through="IntegratorMembership",
        blank=True,
        help_text=_("People who see this account, and no other, in the panel."),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("account")
        verbose_name_plural = _("accounts")
        ordering = ["name"]
        constraints = [
            suspension_is_whole("integrator_suspension_has_who_and_why"),
            one_of("integrator_on_failure", "on_failure", [policy.value for policy in OnFailure]),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        super().clean()
        validate_name(self.name)

    def check_active(self) -> None:
        """Raise AccountSuspended while the account is suspended."""
        if self.is_suspended:
            raise AccountSuspended("The account is suspended. Ask whoever runs this service to lift the suspension.")


class IntegratorMembership(Membership):
    """A person who sees an account in the panel."""

    # The unique index begins with it.
    integrator = models.ForeignKey(Integrator, on_delete=models.CASCADE, related_name="memberships", db_index=False)
    # Of a member; owners always may. With it go pickup points and tokens, by which deliveries are requested too.
    may_request = models.BooleanField(_("requests deliveries"), default=True, db_default=True)

    class Meta(Membership.Meta):
        db_table = "delivery_integrator_members"  # from when it held no role
        unique_together = [("integrator", "user")]
        constraints = [one_of("integrator_membership_role", "role", Role.values)]
        triggers = [
            pgtrigger.ReadOnly(name="integrator_membership_stays", fields=["integrator", "user"]),
            keeps_an_owner("integrator_keeps_an_owner", column="integrator_id", accounts="delivery_integrator"),
        ]


class PickupPointQuerySet(models.QuerySet["PickupPoint"]):
    def active(self) -> Self:
        return self.filter(active=True)

    def nearest(self, point: Point) -> "tuple[PickupPoint, float] | None":
        """The nearest of these pickup points and its distance in metres; None if all are beyond LARGEST_RADIUS_M."""
        distances = [(metres(pickup.point, point), pickup) for pickup in self.filter(latitude__range=latitudes(point))]
        distance, pickup = min(distances, key=itemgetter(0), default=(math.inf, None))
        return (pickup, distance) if pickup is not None and distance <= LARGEST_RADIUS_M else None


class PickupPoint(Identified, Located):
    """A place from which an integrator may request deliveries."""

    integrator = models.ForeignKey(
        Integrator, verbose_name=_("account"), on_delete=models.CASCADE, related_name="pickup_points"
    )
    name = not_personal(models.CharField(_("name"), max_length=120))
    radius_m = models.PositiveIntegerField(
        _("radius (m)"),
        default=150,
        validators=[MinValueValidator(1), MaxValueValidator(LARGEST_RADIUS_M)],
        help_text=_("A request's pickup must lie this near."),
    )
    active = models.BooleanField(_("active"), default=True)
    awaits_approval = models.BooleanField(
        _("waits for approval"), default=False, db_default=False, editable=False
    )  # not active until staff approve it

    objects = PickupPointQuerySet.as_manager()

    class Meta:
        verbose_name = _("pickup point")
        verbose_name_plural = _("pickup points")
        ordering = ["name"]
        constraints = [
            on_earth("pickup_point_on_earth"),
            models.CheckConstraint(
                name="pickup_point_radius", condition=Q(radius_m__gte=1, radius_m__lte=LARGEST_RADIUS_M)
            ),
            models.CheckConstraint(
                name="pickup_point_waits_inactive", condition=Q(awaits_approval=False) | Q(active=False)
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Staff who activate it in the admin have approved it."""
        super().clean()
        if self.active:
            self.awaits_approval = False

    @staticmethod
    def covers(point: Point, *, integrator: Integrator) -> bool:
        """Whether `point` is within the radius of one of the integrator's active pickup points."""
        south, north = latitudes(point)
        found = _WITH_ACTIVE_NEARBY.first(integrator=integrator.pk, south=south, north=north)
        return found is not None and is_within_one(point, found.circles)


def latitudes(point: Point) -> tuple[float, float]:
    """The southern and the northern edge of a box around `point` that contains all within LARGEST_RADIUS_M."""
    return point.latitude - _LARGEST_RADIUS_DEGREES, point.latitude + _LARGEST_RADIUS_DEGREES


def active_nearby() -> ArraySubquery:
    """Latitude, longitude and radius of an account's active pickup points, each an array of three floats.

    For a CompiledQuery with the Parameters `integrator`, `south` and `north`: the edges from `latitudes`.
    """
    circle: Func = Func(
        "latitude",
        "longitude",
        "radius_m",
        template="ARRAY[%(expressions)s]",
        output_field=ArrayField(models.FloatField()),
    )
    nearby = PickupPoint.objects.filter(
        integrator=Parameter("integrator"), active=True, latitude__range=(Parameter("south"), Parameter("north"))
    )
    return ArraySubquery(nearby.order_by().values_list(circle))


def is_within_one(point: Point, circles: Iterable[Sequence[float]]) -> bool:
    """Whether `point` is in one of the circles that `active_nearby` reads."""
    return any(metres(Point(latitude, longitude), point) <= radius for latitude, longitude, radius in circles)


_WITH_ACTIVE_NEARBY: CompiledQuery[Any] = CompiledQuery(
    lambda: (
        Integrator.objects.filter(pk=Parameter("integrator")).annotate(circles=active_nearby()).only("pk").order_by()
    )
)


class AuditAction(models.TextChoices):
    """Kinds of change to an account that the audit trail records."""

    TOKEN_ISSUED = "token_issued", _("Token issued")
    TOKEN_ROTATED = "token_rotated", _("Token rotated")
    TOKEN_REVOKED = "token_revoked", _("Token revoked")
    TOKEN_RENAMED = "token_renamed", _("Token renamed")
    URL_SET = EndpointAction.URL_SET.value, EndpointAction.URL_SET.label
    FILTER_SET = EndpointAction.FILTER_SET.value, EndpointAction.FILTER_SET.label
    ENDPOINT_ADDED = EndpointAction.ADDED.value, EndpointAction.ADDED.label
    ENDPOINT_REMOVED = EndpointAction.REMOVED.value, EndpointAction.REMOVED.label
    ENDPOINT_ON = EndpointAction.ON.value, EndpointAction.ON.label
    ENDPOINT_OFF = EndpointAction.OFF.value, EndpointAction.OFF.label
    SECRET_SHOWN = EndpointAction.SECRET_SHOWN.value, EndpointAction.SECRET_SHOWN.label
    SECRET_ROTATED = EndpointAction.SECRET_ROTATED.value, EndpointAction.SECRET_ROTATED.label
    TEST_SENT = EndpointAction.TEST_SENT.value, EndpointAction.TEST_SENT.label
    EVENTS_REPLAYED = EndpointAction.EVENTS_REPLAYED.value, EndpointAction.EVENTS_REPLAYED.label
    ACCOUNT_SUSPENDED = "account_suspended", _("Account suspended")
    ALERTS_SET = "alerts_set", _("URL of alerts set")
    ALERT_TIMES_SET = "alert_times_set", _("Times of alerts set")
    ALERT_TESTED = "alert_tested", _("Test alert sent")
    PERSON_INVITED = "person_invited", _("Person invited")
    INVITATION_RESENT = "invitation_resent", _("Invitation sent again")
    INVITATION_REVOKED = "invitation_revoked", _("Invitation revoked")
    PERSON_JOINED = "person_joined", _("Person joined")
    ROLE_CHANGED = "role_changed", _("Role changed")
    PERSON_REMOVED = "person_removed", _("Person removed")
    SUSPENSION_LIFTED = "suspension_lifted", _("Suspension lifted")
    ANY_PICKUP_ALLOWED = "any_pickup_allowed", _("Pick up anywhere: allowed")
    ANY_PICKUP_ENDED = "any_pickup_ended", _("Pick up anywhere: no longer allowed")
    REPEATS_REFUSED = "repeats_refused", _("Repeated external ids: refused")
    REPEATS_ACCEPTED = "repeats_accepted", _("Repeated external ids: accepted")
    APPROVAL_BEGUN = "approval_begun", _("Pickup points: approved by staff")
    APPROVAL_ENDED = "approval_ended", _("Pickup points: no approval needed")
    REQUESTS_ALLOWED = "requests_allowed", _("Requesting deliveries: allowed")
    REQUESTS_ENDED = "requests_ended", _("Requesting deliveries: no longer allowed")
    POINT_ADDED = "point_added", _("Pickup point added")
    POINT_CHANGED = "point_changed", _("Pickup point changed")
    POINT_ACTIVATED = "point_activated", _("Pickup point activated")
    POINT_DEACTIVATED = "point_deactivated", _("Pickup point deactivated")
    POINT_APPROVED = "point_approved", _("Pickup point approved")
    POINT_REMOVED = "point_removed", _("Pickup point removed")
    POLICY_SET = "policy_set", _("Policy of failures set")
    STOP_CHANGED = "stop_changed", _("Drop-off changed")
    FAILURE_ANSWERED = "failure_answered", _("Failure answered")
    SHOP_CONNECTED = "shop_connected", _("Shop connected")
    SHOP_CHANGED = "shop_changed", _("Connection of a shop changed")
    SHOP_SECRET_SET = "shop_secret_set", _("Secret of a shop set")  # pragma: allowlist secret
    SHOP_REMOVED = "shop_removed", _("Connection of a shop removed")


class AuditEntry(models.Model):
    """Who did what to an account, and when. Append-only. Changes of deliveries are recorded as `Transition`."""

    integrator = models.ForeignKey(
        Integrator,
        verbose_name=_("account"),
        on_delete=models.CASCADE,
        related_name="audit",
        db_index=False,  # an index begins with this column
    )
    environment = models.CharField(_("environment"), max_length=7, choices=Environment)
    action = models.CharField(_("action"), max_length=20, choices=AuditAction)
    subject = personal(
        models.CharField(
            _("subject"), max_length=2000, blank=True, help_text=_("A token's name and hint, a URL, a count, a reason.")
        )
    )
    by = personal(models.CharField(_("by"), max_length=200))
    at = models.DateTimeField(_("at"))

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit trail")
        ordering = ["-id"]
        constraints = [one_of("audit_environment", "environment", Environment.values)]
        indexes = [
            models.Index(fields=["integrator", "environment", "-at", "-id"], name="audit_newest"),
            models.Index(fields=["integrator", "environment", "action", "-at", "-id"], name="audit_by_action"),
            models.Index(fields=["integrator", "environment", "by", "-at", "-id"], name="audit_by_person"),
        ]
        triggers = [
            pgtrigger.Protect(name="audit_append_only", operation=pgtrigger.Update | pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.get_action_display()} {self.subject}".strip()

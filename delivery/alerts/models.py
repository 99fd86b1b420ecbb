from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from common.accounts import Environment
from common.fields import CiphertextField, not_personal, one_of
from common.webhooks.models import Health, ToldHealth
from delivery.models.delivery import Delivery
from delivery.models.integrator import IntegratorMembership
from delivery.models.webhook import WebhookEndpoint


class AlertKind(models.TextChoices):
    """What people are told. The first three are of an endpoint, and also the states that were told last."""

    FAILING = Health.FAILING.value, Health.FAILING.label
    OFF = Health.OFF.value, Health.OFF.label
    RECOVERED = Health.RECOVERED.value, Health.RECOVERED.label
    TROUBLE = "trouble", _("Deliveries without a driver, late or failed")
    DIGEST = "digest", _("Daily digest")
    TEST = "test", _("Test")


class Trouble(models.TextChoices):
    """What is wrong with a delivery that an alert names."""

    UNTAKEN = "untaken", _("Without a driver")
    LATE = "late", pgettext_lazy("delivery", "Late")
    ATTEMPT = "attempt", _("First attempt failed")
    FAILED = "failed", _("Not delivered")


CHOSEN = (AlertKind.FAILING, AlertKind.OFF, AlertKind.RECOVERED, AlertKind.TROUBLE, AlertKind.DIGEST)
UNTAKEN_MINUTES, LATE_MINUTES = 10, 15
# Limits of both.
LEAST_MINUTES, MOST_MINUTES = 1, 1440


class EndpointAlerts(ToldHealth):
    """What was told about an endpoint, and the URL that is told. A row is made when it is needed first.

    That of the first endpoint also has what is told about the deliveries of its account and environment, and when.
    """

    endpoint = models.OneToOneField(WebhookEndpoint, primary_key=True, on_delete=models.CASCADE, related_name="alerts")
    digest_on = not_personal(models.DateField(null=True))
    # Encrypted, because such a URL is a secret: whoever knows it can write to the channel. Empty: there is none.
    url_ciphertext = not_personal(CiphertextField(blank=True))
    url_host = not_personal(models.CharField(max_length=255, blank=True))
    language = not_personal(models.CharField(max_length=10, default="pt-br"))
    # A delivery is told of that nobody has accepted for so long, and one whose next step is overdue for so long.
    untaken_minutes = models.PositiveSmallIntegerField(default=UNTAKEN_MINUTES, db_default=UNTAKEN_MINUTES)
    late_minutes = models.PositiveSmallIntegerField(default=LATE_MINUTES, db_default=LATE_MINUTES)
    trouble_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                name="alerts_minutes",
                condition=Q(
                    untaken_minutes__range=(LEAST_MINUTES, MOST_MINUTES),
                    late_minutes__range=(LEAST_MINUTES, MOST_MINUTES),
                ),
            ),
            one_of("alerts_reported", "reported", Health.values),
        ]

    def __str__(self) -> str:
        return f"{self.endpoint_id}: {self.reported}"


class AlertChoice(models.Model):
    """Which alerts of an account and environment a member is sent by e-mail. Without a row: `AlertChoice.default`."""

    membership = models.ForeignKey(
        IntegratorMembership,
        on_delete=models.CASCADE,
        related_name="alert_choices",
        db_index=False,  # the unique index begins with it
    )
    environment = models.CharField(max_length=7, choices=Environment)
    failing = models.BooleanField(AlertKind.FAILING.label)
    off = models.BooleanField(AlertKind.OFF.label)
    recovered = models.BooleanField(AlertKind.RECOVERED.label)
    trouble = models.BooleanField(AlertKind.TROUBLE.label, default=False, db_default=False)
    digest = models.BooleanField(AlertKind.DIGEST.label)
    language = not_personal(models.CharField(max_length=10))

    class Meta:
        default_permissions = ()
        unique_together = [("membership", "environment")]
        constraints = [one_of("alert_choice_environment", "environment", Environment.values)]

    def __str__(self) -> str:
        return f"{self.membership_id}, {self.environment}"

    @staticmethod
    def default(membership: IntegratorMembership, environment: str) -> "AlertChoice":
        """Everything in production, nothing in the sandbox, in Portuguese. Not saved."""
        wanted = environment == Environment.LIVE
        kinds = {kind.value: wanted for kind in CHOSEN}
        return AlertChoice(membership=membership, environment=environment, language="pt-br", **kinds)


class ReportedTrouble(models.Model):
    """A delivery that an alert has named, so that none names it again for the same. Kept 30 days.

    `point`: the label of the stop of a first attempt, else empty.
    """

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="+", db_index=False)
    trouble = models.CharField(max_length=7, choices=Trouble)
    point = not_personal(models.CharField(max_length=1, blank=True, default="", db_default=""))
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [
            # Expressions make it an index, which can be made while the table is in use.
            models.UniqueConstraint("delivery", "trouble", "point", name="one_report_per_trouble_and_point"),
            one_of("reported_trouble", "trouble", Trouble.values),
        ]
        indexes = [models.Index(fields=["at"], name="reported_trouble_age")]

    def __str__(self) -> str:
        return f"{self.delivery_id}: {self.trouble}"


class PostState(models.TextChoices):
    """Whether a post is still to be sent."""

    WAITING = "waiting", _("Waiting")
    SENT = "sent", _("Sent")
    FAILED = "failed", _("Failed, no more retries")


class AlertPost(models.Model):
    """A text for the URL of an endpoint's alerts, written in the transaction that tells. Kept 30 days."""

    alerts = models.ForeignKey(EndpointAlerts, on_delete=models.CASCADE, related_name="posts")
    kind = models.CharField(_("kind"), max_length=9, choices=AlertKind)
    text = not_personal(models.TextField())
    created_at = models.DateTimeField(_("created at"))
    state = models.CharField(_("state"), max_length=7, choices=PostState, default=PostState.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    # When it is sent next; while a worker sends it, when another worker may take it over.
    due_at = models.DateTimeField()
    answer = not_personal(
        models.CharField(_("answer"), max_length=200, blank=True)
    )  # a status such as 404, or a class of error

    class Meta:
        default_permissions = ()
        ordering = ["-id"]
        constraints = [one_of("alert_post_state", "state", PostState.values)]
        indexes = [
            models.Index(fields=["due_at"], name="alert_post_due", condition=Q(state="waiting")),
            models.Index(fields=["created_at"], name="alert_post_age"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}, {self.created_at:%Y-%m-%d %H:%M}"

from typing import ClassVar
from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual

from common.fields import CiphertextField, not_personal, personal


class AttemptCount(models.Model):
    """Attempts within a window, see `common.pages.attempts`. Pruned after `expires_at`."""

    key = personal(models.CharField(primary_key=True, max_length=64))  # a hexadecimal SHA-256 digest
    count = models.PositiveIntegerField()
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.count} until {self.expires_at}"


class KeptUpload(models.Model):
    """A file that was uploaded and is not confirmed yet (`common.files.kept_uploads`). Pruned after `expires_at`."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = personal(models.CharField(max_length=60))
    kind = not_personal(models.CharField(max_length=60))
    ciphertext = personal(CiphertextField())
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    busy_until = models.DateTimeField(null=True)  # while a request works on it

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["owner", "created_at"], name="uploads_of_an_owner")]
        constraints = [
            # About 3 MB of content.
            models.CheckConstraint(
                name="kept_upload_is_small", condition=LessThanOrEqual(Length("ciphertext"), 4_000_000)
            ),
            models.UniqueConstraint(
                name="one_busy_upload_of_an_owner", fields=["owner"], condition=Q(busy_until__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.owner}"


class LatestMoment(models.Model):
    """The latest moment that a worker has seen, in one row, by which it sees that the clocks were put back.

    See `common.workers.moments`.
    """

    ONLY: ClassVar[int] = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY, editable=False)
    moment = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [models.CheckConstraint(name="one_latest_moment", condition=Q(id=1))]

    def __str__(self) -> str:
        return f"{self.moment}"

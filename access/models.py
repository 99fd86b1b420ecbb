from django.contrib.auth.models import User
from django.db import models


class AttemptCount(models.Model):
    """Attempts at secrets within a window, see `access.throttle`. Pruned after `expires_at`."""

    key = models.CharField(primary_key=True, max_length=64)  # a hexadecimal SHA-256 digest
    count = models.PositiveIntegerField()
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.count} until {self.expires_at}"


class EnrolmentCode(models.Model):
    """The latest enrolment code of a user, see `access.enrolment`."""

    user = models.OneToOneField(User, primary_key=True, on_delete=models.CASCADE, related_name="enrolment_code")
    digest = models.BinaryField(max_length=32)
    issued_by = models.CharField(max_length=200)
    issued_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.user_id}, issued by {self.issued_by}"


class InitialPassword(models.Model):
    """Marks a user whose password was set by somebody else, until the user has changed it."""

    user = models.OneToOneField(User, primary_key=True, on_delete=models.CASCADE, related_name="initial_password")
    set_at = models.DateTimeField(auto_now=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.user_id}, since {self.set_at}"

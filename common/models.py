from django.db import models


class AttemptCount(models.Model):
    """Attempts within a window, see `common.attempts`. Pruned after `expires_at`."""

    key = models.CharField(primary_key=True, max_length=64)  # a hexadecimal SHA-256 digest
    count = models.PositiveIntegerField()
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.count} until {self.expires_at}"

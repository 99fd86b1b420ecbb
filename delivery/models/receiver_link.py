from django.db import models

from common import credentials
from common.fields import CiphertextField
from delivery.models.stop import Stop


class ReceiverLink(models.Model):
    """The link with which a receiver follows one stop. Made when it is first asked for."""

    stop = models.OneToOneField(Stop, primary_key=True, on_delete=models.CASCADE, related_name="receiver_link")
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    ciphertext = CiphertextField(editable=False)
    created_at = models.DateTimeField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.stop_id)

    @property
    def token(self) -> str:
        """128 random bits in base64url, 22 characters."""
        return credentials.decrypt(self.ciphertext)

"""Files that people have uploaded and not confirmed yet: a few of each owner, encrypted, for an hour.

They are in a table of their own, because the cache drops rows of others when it is full. `owner` names who may see
them, an account or a person; `kind` names the page that reads them.
"""

from base64 import b64decode, b64encode
from datetime import datetime, timedelta
from uuid import UUID

from cryptography.fernet import InvalidToken
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from common import credentials
from common.models import KeptUpload

LIFETIME = timedelta(hours=1)
MOST_OF_AN_OWNER = 5
BUSY = timedelta(seconds=30)  # longer than a portion of work with its last row


def keep(content: str, *, owner: str, kind: str, at: datetime) -> UUID:
    """Store a new upload in place of the owner's oldest, if the owner has as many as allowed. Returns its id."""
    made = KeptUpload.objects.create(
        owner=owner, kind=kind, ciphertext=credentials.encrypt(content), created_at=at, expires_at=at + LIFETIME
    )
    of_owner = KeptUpload.objects.filter(owner=owner).order_by("-created_at", "-id")
    of_owner.filter(pk__in=list(of_owner.values_list("pk", flat=True)[MOST_OF_AN_OWNER:])).delete()
    return made.pk


def find(upload: UUID, *, owner: str, kind: str, at: datetime) -> str | None:
    """The content; None if this owner has no such upload, or not any more."""
    ciphertext = _of(owner, kind, at).filter(pk=upload).values_list("ciphertext", flat=True).first()
    try:
        return credentials.decrypt_uncached(ciphertext) if ciphertext else None
    except InvalidToken:  # its encryption key was removed meanwhile
        return None


def change(upload: UUID, content: str, *, at: datetime) -> None:
    """Replace the content, and keep it for as long as a new one. Does nothing if the upload is gone."""
    found = KeptUpload.objects.filter(pk=upload)
    found.update(ciphertext=credentials.encrypt(content), expires_at=at + LIFETIME)


def remove(upload: UUID) -> None:
    KeptUpload.objects.filter(pk=upload).delete()


def keep_file(raw: bytes, *, owner: str, kind: str, at: datetime) -> UUID:
    """Store the bytes of a file, see `keep`."""
    return keep(b64encode(raw).decode(), owner=owner, kind=kind, at=at)


def find_file(upload: UUID, *, owner: str, kind: str, at: datetime) -> bytes | None:
    """The bytes that `keep_file` has stored, see `find`."""
    content = find(upload, owner=owner, kind=kind, at=at)
    return None if content is None else b64decode(content)


def claim(upload: UUID, *, owner: str, at: datetime) -> bool:
    """Whether the caller may work on the upload, until `release` or for BUSY. One upload of an owner at a time."""
    of_owner = KeptUpload.objects.filter(owner=owner)
    # Further ahead than a claim lasts: it was made before the clock was put right.
    of_owner.filter(Q(busy_until__lte=at) | Q(busy_until__gt=at + BUSY)).update(busy_until=None)
    try:
        with transaction.atomic():
            return of_owner.filter(pk=upload, busy_until=None).update(busy_until=at + BUSY) == 1
    except IntegrityError:  # the constraint `one_busy_upload_of_an_owner`
        return False


def release(upload: UUID) -> None:
    """End a claim."""
    KeptUpload.objects.filter(pk=upload).update(busy_until=None)


def _of(owner: str, kind: str, at: datetime) -> QuerySet[KeptUpload]:
    return KeptUpload.objects.filter(owner=owner, kind=kind, expires_at__gt=at)

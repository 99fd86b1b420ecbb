"""The first superuser of an installation. Superusers create the other people, in the admin."""

from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from access import enrolment
from access.models import InitialPassword


def first() -> User | None:
    """The oldest superuser who can log in."""
    return User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()


def create(*, username: str, password: str, is_initial: bool, by: str, at: datetime) -> tuple[User, str | None]:
    """Create a superuser. Returns the user and, where a second factor is required, the code to set it up with.

    A password that `is_initial` has to be changed at the first log-in. Raises ValidationError.
    """
    user = User(username=username, is_staff=True, is_superuser=True)
    user.full_clean(exclude=["password"])
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise ValidationError({"password": error.messages}) from error
    user.set_password(password)
    user.save()
    if is_initial:
        InitialPassword.objects.create(user=user)
    return user, enrolment.issue(user=user, by=by, at=at) if settings.REQUIRE_TWO_FACTOR else None

"""The superuser that pytest-django's `admin_client` logs in, without a password.

The hash of a password takes a third of a second, which is longer than most of the tests of the admin.
"""

import pytest
from django.contrib.auth.models import User


@pytest.fixture
def admin_user(db: None) -> User:
    return User.objects.create_superuser("admin", "admin@example.com")

import pytest
from django.contrib.auth.models import Permission, User


def person(name, *permissions):
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return user


@pytest.fixture
def dispatcher(client, db):
    """A log-in that may look at deliveries and move them, and nothing else."""
    client.force_login(person("dora", "view_delivery", "dispatch_delivery"))
    return client


@pytest.fixture
def onlooker(client, db):
    """A log-in that may look at deliveries only."""
    client.force_login(person("otto", "view_delivery"))
    return client

"""An import of the tariff asks for the permissions of what it does: to change rows, and to add them."""

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile as File
from django.test import Client
from django.urls import reverse

from integration.models import FreightRate

CSV = b"service,zone,origin_kind,dest_kind,base_centavos_up_to_1kg,extra_kg_centavos,deadline_days\n"


def url(page):
    return reverse(f"admin:integration_freightrate_{page}")


@pytest.fixture
def uploaded(admin_client, tariff):
    """A confirmed upload, one step before its rows are written: the local economy rate becomes 1 centavo."""
    csv = CSV + b"economy,local,capital,capital,1,1,1\n"
    preview = admin_client.post(url("import"), {"format": "0", "import_file": File("t.csv", csv)})
    return preview.context["confirm_form"].initial


@pytest.fixture
def rates():
    return lambda: list(FreightRate.objects.order_by("pk").values_list())


def browser_with(*codenames):
    user = User.objects.create(username="clerk", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    browser = Client()
    browser.force_login(user)
    return browser


@pytest.mark.parametrize(
    "permissions",
    [(), ("view_freightrate",), ("view_freightrate", "change_freightrate"), ("view_freightrate", "add_freightrate")],
)
def test_an_import_needs_both_permissions(uploaded, rates, permissions):
    browser, before = browser_with(*permissions), rates()

    answers = [browser.get(url("import")), browser.post(url("process_import"), uploaded)]

    assert [answer.status_code for answer in answers] == [403, 403]
    assert rates() == before


def test_an_import_with_both_permissions_changes_the_rates(uploaded, rates):
    browser, before = browser_with("change_freightrate", "add_freightrate"), rates()

    response = browser.post(url("process_import"), uploaded)

    assert response.status_code == 302
    assert rates() != before


@pytest.mark.parametrize(("permissions", "status"), [((), 403), (("view_order",), 403), (("view_freightrate",), 200)])
def test_an_export_needs_the_permission_to_view(tariff, permissions, status):
    assert browser_with(*permissions).get(url("export")).status_code == status

import pytest

from integration.freight.models import FreightRate
from tests.integration.admin.rate_files import LOCAL, NEW, upload


@pytest.fixture
def rates(tariff):
    return lambda: list(FreightRate.objects.order_by("pk").values_list())


@pytest.fixture
def previewed(admin_client, tariff):
    """What the second step sends: the local economy rate becomes R$ 44,90."""
    return upload(admin_client, NEW + LOCAL.format("44,90", "1,90", 3)).context["confirm_form"].initial

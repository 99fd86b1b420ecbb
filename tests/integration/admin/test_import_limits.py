"""Uploads of the tariff: what is too large or was never previewed is refused with a sentence, and changes nothing."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile as File
from django.core.signing import dumps
from django.urls import reverse

from common.tabular_import import MOST_BYTES, MOST_ROWS
from integration.models import FreightRate
from tests.integration.admin.test_import_rights import CSV, uploaded

__all__ = ["uploaded"]
ROW = b"economy,local,capital,capital,1,1,1\n"


def url(page):
    return reverse(f"admin:integration_freightrate_{page}")


@pytest.mark.parametrize(
    "content",
    [CSV + ROW * (MOST_ROWS + 1), CSV + b"x" * MOST_BYTES, CSV + b"\n" * 50_000],
    ids=["rows", "bytes", "empty lines"],
)
def test_an_upload_that_is_too_large_is_refused_before_it_is_read(admin_client, tariff, content):
    before = list(FreightRate.objects.order_by("pk").values_list())

    response = admin_client.post(url("import"), {"format": "0", "import_file": File("t.csv", content)})

    assert response.status_code == 200
    assert "At most 500 rows and 100 kB at once." in response.content.decode()
    assert "confirm_form" not in response.context
    assert list(FreightRate.objects.order_by("pk").values_list()) == before


def test_as_many_rows_as_allowed_are_previewed(admin_client, tariff):
    ways = [f"economy,{zone},capital,capital,{n},1,1\n".encode() for n in range(5) for zone in ("local", "far")]
    content = CSV + b"".join(ways) * (MOST_ROWS // len(ways))

    response = admin_client.post(url("import"), {"format": "0", "import_file": File("t.csv", content)})

    assert response.context["result"].total_rows == MOST_ROWS


@pytest.mark.parametrize("name", ["../../{file}", "{file}", "", "x" * 5000, "nothing:at:all"])
def test_the_second_step_reads_nothing_but_its_upload(admin_client, uploaded, tmp_path, name):
    victim = tmp_path / "victim.csv"
    victim.write_bytes(CSV + ROW)

    response = admin_client.post(
        url("process_import"), {**uploaded, "import_file_name": name.format(file=str(victim).lstrip("/"))}
    )

    assert response.status_code == 200
    assert victim.read_bytes() == CSV + ROW
    assert FreightRate.objects.filter(base_centavos=1).count() == 0


def test_the_second_step_refuses_an_upload_that_is_no_longer_kept(admin_client, uploaded):
    gone = dumps("0" * 32, salt="tabular import")

    response = admin_client.post(url("process_import"), {**uploaded, "import_file_name": gone})

    assert "Upload the file again" in response.content.decode()


@pytest.mark.parametrize("format_", ["1", "99", "-1", "x", "9" * 5000])
def test_the_second_step_refuses_a_format_that_is_not_offered(admin_client, uploaded, format_):
    response = admin_client.post(url("process_import"), {**uploaded, "format": format_})

    assert response.status_code == 200
    assert FreightRate.objects.filter(base_centavos=1).count() == 0

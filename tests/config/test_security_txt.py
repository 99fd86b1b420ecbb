"""security.txt (RFC 9116): there when an operator names a contact."""

from datetime import UTC, datetime, timedelta

import pytest

PATH = "/.well-known/security.txt"


@pytest.fixture
def _contacts(settings):
    settings.SECURITY_CONTACT = ["mailto:security@example.com", "https://example.com/report"]


@pytest.mark.usefixtures("_contacts")
class TestSecurityTxt:
    def test_names_each_contact_in_order(self, client):
        response = client.get(PATH)

        assert (response.status_code, response["Content-Type"]) == (200, "text/plain; charset=utf-8")
        contacts = [line for line in response.content.decode().splitlines() if line.startswith("Contact: ")]
        assert contacts == ["Contact: mailto:security@example.com", "Contact: https://example.com/report"]

    def test_expires_once_within_a_year(self, client):
        lines = client.get(PATH).content.decode().splitlines()

        (expires,) = [line.partition(": ")[2] for line in lines if line.startswith("Expires: ")]
        moment = datetime.strptime(expires, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        assert timedelta() < moment - datetime.now(UTC) < timedelta(days=365)

    def test_says_where_it_belongs(self, client):
        lines = client.get(PATH, secure=True).content.decode().splitlines()

        assert "Canonical: https://testserver/.well-known/security.txt" in lines

    def test_is_only_read(self, client):
        assert client.post(PATH).status_code == 405


def test_is_not_there_without_a_contact(client, db, settings):
    settings.SECURITY_CONTACT = []

    assert client.get(PATH).status_code == 404

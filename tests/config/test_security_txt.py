"""security.txt (RFC 9116): there when an operator names a contact."""

from datetime import UTC, datetime, timedelta

PATH = "/.well-known/security.txt"


def test_names_contacts_in_order_expires_within_a_year_and_is_only_read(client, settings):
    settings.SECURITY_CONTACT = ["mailto:security@example.com", "https://example.com/report"]

    response = client.get(PATH, secure=True)

    assert (response.status_code, response["Content-Type"]) == (200, "text/plain; charset=utf-8")
    first, second, expires, _languages, canonical = response.content.decode().splitlines()
    assert (first, second) == ("Contact: mailto:security@example.com", "Contact: https://example.com/report")
    moment = datetime.strptime(expires, "Expires: %Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert timedelta() < moment - datetime.now(UTC) < timedelta(days=365)
    assert canonical == "Canonical: https://testserver/.well-known/security.txt"
    assert client.post(PATH).status_code == 405


def test_is_not_there_without_a_contact(client, db, settings):
    settings.SECURITY_CONTACT = []

    assert client.get(PATH).status_code == 404

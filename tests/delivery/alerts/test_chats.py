"""Alerts to chats, posted by plug-ins of Apprise to a server on loopback that stands for the service."""

import json
import logging
import re

import pytest
import requests
from django.utils import timezone

from common import credentials
from common.webhooks.address_guard import InvalidWebhookUrl
from common.workers.deadlines import BoundedCalls
from delivery.alerts import actions as alerts
from delivery.alerts import chats
from delivery.alerts import posts as alert_posts
from delivery.alerts.models import AlertPost, EndpointAlerts
from delivery.models import AuditEntry
from tests.common.webhooks.conftest import Sink, sink
from tests.factories import BY, TokenFactory

__all__ = ["Sink", "sink"]
NOW = timezone.now
SECRET = "s3cr3tS3cr3t"  # pragma: allowlist secret
TEAMS = f"triggers/manual/paths/invoke?api-version=1&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig={SECRET}"
# As people copy them, as Apprise writes them, and where they are posted.
ADDRESSES = {
    "Slack": (
        f"https://hooks.slack.com/services/T0A/B0B/{SECRET}",
        f"slack://T0A/B0B/{SECRET}",
        f"https://hooks.slack.com/services/T0A/B0B/{SECRET}",
    ),
    "Discord": (
        f"https://discord.com/api/webhooks/12345/{SECRET}",
        f"discord://12345/{SECRET}",
        f"https://discord.com/api/webhooks/12345/{SECRET}",
    ),
    "Telegram": (
        f"tgram://12345:{SECRET}/-100123",
        f"tgram://12345:{SECRET}/-100123/",
        f"https://api.telegram.org/bot12345:{SECRET}/sendMessage",
    ),
    "Google Chat": (
        f"https://chat.googleapis.com/v1/spaces/AAA/messages?key=k3y&token={SECRET}%3D",
        f"gchat://AAA/k3y/{SECRET}%3D",
        "https://chat.googleapis.com/v1/spaces/AAA/messages",
    ),
    "Teams": (
        f"https://prod-1.brazilsouth.logic.azure.com:443/workflows/abc/{TEAMS}",
        f"workflows://prod-1.brazilsouth.logic.azure.com/abc/{SECRET}",
        "https://prod-1.brazilsouth.logic.azure.com/workflows/abc/triggers/manual/paths/invoke",
    ),
}
POWER = "default1.2f.environment.api.powerplatform.com"
FORMS = [(service, form) for service, forms in ADDRESSES.items() for form in forms[:2]]


@pytest.fixture
def endpoint(db):
    return TokenFactory.create(integrator__name="Loja").integrator.endpoints.get(environment="live")


@pytest.fixture
def asked(sink, monkeypatch):
    """What requests is asked for; `sink` answers in place of the service, as Slack does."""
    calls, request = [], requests.Session.request
    sink.answers = [(200, {}, b"ok")]

    def to_sink(session, method, url, **more):
        calls.append({"url": url, **more})
        return request(session, method, sink.url, **more)

    monkeypatch.setattr(requests.Session, "request", to_sink)
    return calls


@pytest.fixture(params=ADDRESSES)
def service(request, endpoint, asked):
    """Each of them, which the account's alerts are posted to."""
    alerts.set_url(endpoint=endpoint, url=ADDRESSES[request.param][0], language="en", by=BY, at=NOW())
    return request.param


def post(text="Webhooks fail"):
    told = EndpointAlerts.objects.get()
    made = AlertPost.objects.create(alerts=told, kind="test", text=text, created_at=NOW(), due_at=NOW())
    alert_posts.post_due()
    made.refresh_from_db()
    return made


def texts(sink):
    """What people read of each request."""
    return ["".join(_texts(json.loads(body))) for _headers, body in sink.received]


def _texts(value):
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    if not isinstance(value, dict):
        return []
    own = [value[key] for key in ("text", "content") if isinstance(value.get(key), str)]
    return own + [text for each in value.values() for text in _texts(each)]


class TestPost:
    def test_is_taken_by_each_service_at_its_own_host(self, service, asked, sink):
        found = post()

        assert (found.state, found.answer, found.tries) == ("sent", f"taken by {service}", 1)
        (call,) = asked
        assert call["url"] == ADDRESSES[service][2]
        assert (call["verify"], call["allow_redirects"]) == (True, False)
        assert SECRET in str(call)
        assert texts(sink) == ["Webhooks fail"]
        body = sink.received[0][1].lower()
        assert "apprise" not in body
        assert "github" not in body

    def test_goes_to_the_path_of_power_automate(self, endpoint, asked):
        url = f"https://{POWER}:443/powerautomate/automations/direct/cu/7/workflows/abc/{TEAMS}"
        alerts.set_url(endpoint=endpoint, url=url, language="en", by=BY, at=NOW())

        assert post().answer == "taken by Teams"
        assert asked[0]["url"] == url.partition("?")[0].replace(":443", "")
        assert asked[0]["params"]["api-version"] == "1"

    def test_notifies_nobody_whom_a_name_mentions(self, service, sink):
        post("Webhooks of @everyone @here <@U1> <!channel> <users/all> <at>ana</at> fail")

        (text,) = texts(sink)
        assert not re.search(r"@[a-zA-Z]|(<|&lt;)[^\u200b]", text)
        assert "everyone" in text

    @pytest.mark.parametrize("status", [302, 404, 500])
    def test_is_tried_again_by_us_alone(self, service, sink, status):
        sink.answers = [(status, {"Location": sink.url}, b"no")]

        found = post()

        assert (found.state, found.answer) == ("waiting", f"not taken by {service}")
        assert len(sink.received) == 1
        for _attempt in range(5):
            AlertPost.objects.update(due_at=NOW())
            alert_posts.post_due()
        found.refresh_from_db()
        assert (found.state, len(sink.received)) == ("failed", 4)

    def test_does_not_sleep_until_the_service_takes_more(self, service, sink, monkeypatch):
        monkeypatch.setattr(chats, "_calls", BoundedCalls(most=1, seconds=5))
        later = str(int(NOW().timestamp()) + 600)
        sink.answers = [(429, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": later, "Retry-After": "600"}, b"")]
        monkeypatch.setattr("time.sleep", pytest.fail)

        assert post().answer == f"not taken by {service}"
        assert len(sink.received) <= 2  # Discord's plug-in repeats at once

    def test_is_split_when_it_is_too_long_for_the_service(self, service, sink):
        words = " ".join(f"{number:05}" for number in range(7_000))

        assert post(words).answer == f"taken by {service}"

        pieces = texts(sink)
        assert len(pieces) > 1
        assert max(map(len, pieces)) <= {"Slack": 40_000, "Telegram": 4096, "Discord": 2000}.get(service, 4000)
        assert " ".join(pieces).split() == words.split()

    def test_ends_at_the_deadline(self, service, sink, monkeypatch):
        monkeypatch.setattr(chats, "_calls", BoundedCalls(most=1, seconds=0.1))
        sink.delay_seconds = 1

        assert post().answer == f"not taken by {service}"

    def test_logs_no_part_of_the_address(self, service, sink, caplog):
        caplog.set_level(logging.DEBUG)
        sink.answers = [(500, {}, b"no")]

        post()

        assert f"was not taken by {service}" in caplog.text
        assert SECRET not in caplog.text
        assert not any(record.name.startswith("apprise") for record in caplog.records)

    def test_survives_a_fault_of_a_plug_in_and_logs_its_class_alone(self, service, asked, monkeypatch, caplog):
        def fault(_session, url, **more):
            raise ValueError(url, more)

        monkeypatch.setattr(requests.Session, "request", fault)

        assert post().answer == f"not taken by {service}"
        assert f"post to {service}: ValueError" in caplog.text
        assert SECRET not in caplog.text


class TestChatOf:
    @pytest.mark.parametrize(("service", "form"), FORMS)
    def test_knows_both_forms_of_an_address(self, service, form):
        found, copied = chats.chat_of(form), chats.chat_of(ADDRESSES[service][0])

        assert found is not None
        assert copied is not None
        assert found.service == service
        assert found.tokens == {key: copied.tokens[key] for key in found.tokens}
        assert SECRET in str(found.tokens)

    @pytest.mark.parametrize(("_service", "form"), FORMS)
    def test_takes_nothing_beside_the_tokens(self, _service, form):
        more = "&" if "?" in form else "?"
        for rest in (
            f"{more}verify=no", f"{more}template=/etc/passwd", "#x", ",slack://T/B/c", " slack://T/B/c", "\n", "\u200b",
            "/x" * 1000,
        ):  # fmt: skip  # a list
            assert chats.chat_of(form + rest) is None
        assert chats.chat_of(f" {form}") is None

    @pytest.mark.parametrize(
        "url",
        [
            f"workflows://example.com/abc/{SECRET}",
            f"workflows://logic.azure.com.example.com/abc/{SECRET}",
            f"workflows://example.com/.logic.azure.com/abc/{SECRET}",
            f"workflows://prod-1.logic.azure.com:8443/abc/{SECRET}",
            f"workflows://a@prod-1.logic.azure.com/abc/{SECRET}",
            f"https://hooks.slack.com.example.com/services/T0A/B0B/{SECRET}",
            f"slack://name@T0A/B0B/{SECRET}",
            f"json://example.com/{SECRET}",
            "",
        ],
    )
    def test_knows_no_other_host(self, url):
        assert chats.chat_of(url) is None


class TestSetUrl:
    @pytest.mark.parametrize(("service", "form"), FORMS)
    def test_shows_and_records_the_name_of_the_service(self, endpoint, service, form):
        alerts.set_url(endpoint=endpoint, url=form, language="en", by=BY, at=NOW())

        row = EndpointAlerts.objects.get()
        assert (row.url_host, credentials.decrypt(row.url_ciphertext)) == (service, form)
        assert AuditEntry.objects.get(action="alerts_set").subject == service

    @pytest.mark.parametrize(
        "url", ["slack://T0A/B0B", "slack://T0A/B0B/c?template=/etc/passwd", "workflows://example.com/abc/def"]
    )
    def test_says_what_is_wrong_with_an_address(self, endpoint, url):
        with pytest.raises(InvalidWebhookUrl, match="as the examples show"):
            alerts.set_url(endpoint=endpoint, url=url, language="en", by=BY, at=NOW())

        assert not EndpointAlerts.objects.exclude(url_ciphertext="").exists()

    @pytest.mark.parametrize("url", ["json://example.com/x", "mailto://a:b@example.com", "file:///etc/passwd"])
    def test_takes_no_other_scheme(self, endpoint, url):
        with pytest.raises(InvalidWebhookUrl):
            alerts.set_url(endpoint=endpoint, url=url, language="en", by=BY, at=NOW())

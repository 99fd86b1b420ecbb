"""The address of a receiver's page: its token, its end, its headers, and the limit for unknown tokens."""

import hashlib
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from redis import Redis

from common.api.rate_limit import Limits
from common.pages import link_pages
from delivery.actions import deliveries
from delivery.models import ReceiverLink
from delivery.payload import Options
from tests.delivery.receivers.links import delivery, path_of, text_of
from tests.factories import BY, PICKUP
from tests.panel import archives

pytestmark = pytest.mark.django_db
UNKNOWN = "This link does not exist"


def get(client, path, **headers):
    return client.get(path, HTTP_ACCEPT_LANGUAGE="en", **headers)


class TestToken:
    def test_that_no_link_has_is_answered_alike(self, client):
        path_of(delivery())
        short, paths = ["x", "x" * 22, "x" * 22 + "/", "é" * 22, " "], ["a/b/c", "../admin", "%2e%2e%2f"]

        answers = [get(client, f"/t/{text}") for text in (*short, *paths, "x" * 5000, "%00" * 22)]

        assert {(answer.status_code, answer.content) for answer in answers} == {(404, answers[0].content)}
        assert UNKNOWN in text_of(answers[0])

    def test_works_with_a_slash_at_the_end_and_without(self, client):
        path = path_of(delivery())

        with_slash, without = (get(client, f"{path.rstrip('/')}{end}") for end in ("/", ""))

        assert (with_slash.status_code, without.status_code) == (200, 200)
        assert text_of(with_slash) == text_of(without)

    def test_leads_to_no_other_stop(self, client):
        found = delivery(Options(), Options())

        texts = [text_of(get(client, path_of(found, index))) for index in (0, 1)]

        assert ["Rua Augusta" in text for text in texts] == [True, False]
        assert ["Rua Tupi" in text for text in texts] == [False, True]

    def test_changes_nothing(self, client):
        path = path_of(delivery())

        for method in ("put", "delete", "patch", "options"):
            assert getattr(client, method)(path).status_code == 405


class TestEnd:
    @pytest.mark.parametrize(("ago", "status"), [(timedelta(hours=47, minutes=59), 200), (timedelta(hours=48), 410)])
    def test_is_48_hours_after_the_end_of_the_route(self, client, ago, status):
        end = timezone.now() - ago
        found = delivery(collected=True, at=end - timedelta(minutes=30))
        path = path_of(found)
        deliveries.deliver(delivery=found, point="B", by=BY, at=end)

        page, file = get(client, path), get(client, f"{path}/map/v.pmtiles")

        assert page.status_code == status
        assert file.status_code == (404 if status == 200 else 410)  # this server has none
        assert ("This link has ended" in text_of(page)) is (status == 410)
        assert ("Padaria" in page.content.decode()) is (status == 200)


class TestHeaders:
    @pytest.mark.parametrize("known", [True, False])
    def test_keep_the_page_out_of_caches_search_engines_and_referrers(self, client, known):
        response = get(client, path_of(delivery()) if known else "/t/unknown")

        assert response["Cache-Control"] == "no-store, private"
        assert response["Referrer-Policy"] == "no-referrer"
        assert response["X-Robots-Tag"] == "noindex, nofollow"
        assert '<meta name="robots" content="noindex, nofollow">' in response.content.decode()
        assert "default-src 'none'" in response["Content-Security-Policy"]
        assert not response.cookies

    def test_name_no_other_server(self, client):
        content = get(client, path_of(delivery(collected=True))).content.decode()

        assert "//" not in content.replace("http-equiv", "").replace("<!DOCTYPE html>", "")


class TestQueries:
    def test_are_few(self, client):
        path = path_of(delivery(Options(has_pin=True), Options(), collected=True), 1)

        with CaptureQueriesContext(connection) as queries:
            get(client, path)

        tables = [re.findall(r'FROM "(\w+)"', query["sql"])[0] for query in queries]
        # The link; the position; the options; the photos; how many stops come before.
        assert tables == [
            "delivery_receiverlink", "delivery_latestposition", "delivery_stop", "delivery_proofphoto", "delivery_stop",
        ]  # fmt: skip  # a list


class TestVersion:
    def test_is_the_same_until_something_changes(self, client):
        found = delivery(collected=True)
        path = path_of(found)
        etag = get(client, path)["ETag"]

        again = get(client, path, HTTP_IF_NONE_MATCH=etag)
        deliveries.deliver(delivery=found, point="B", by=BY, at=timezone.now())
        after = get(client, path, HTTP_IF_NONE_MATCH=etag)

        assert (again.status_code, again.content) == (304, b"")
        assert (again["Referrer-Policy"], again["Cache-Control"]) == ("no-referrer", "no-store, private")
        assert after.status_code == 200

    def test_is_another_in_another_language(self, client):
        path = path_of(delivery())
        etag = get(client, path)["ETag"]

        assert client.get(path, HTTP_ACCEPT_LANGUAGE="pt-BR", HTTP_IF_NONE_MATCH=etag).status_code == 200


class TestMapFile:
    def test_is_sent_to_who_has_a_link(self, client, tmp_path, settings):
        settings.MAP_FILE = tmp_path / "map.pmtiles"
        archives.write(settings.MAP_FILE, *PICKUP, zooms=range(10, 15))
        path = path_of(delivery(collected=True))

        page = get(client, path).content.decode()
        (address,) = re.findall(r'"url": "([^"]+)"', page)
        found = get(client, address, HTTP_RANGE="bytes=0-6")
        foreign = get(client, address.replace(path, f"/t/{'x' * 22}"), HTTP_RANGE="bytes=0-6")

        assert address.startswith(f"{path}/map/")
        assert (found.status_code, found.content) == (206, b"PMTiles")
        assert found["Referrer-Policy"] == "no-referrer"
        assert foreign.status_code == 404


class TestLimit:
    @pytest.fixture(autouse=True)
    def _few(self, monkeypatch, settings):
        monkeypatch.setattr(link_pages, "_UNKNOWN_TOKENS", Limits(0, 5))
        redis = Redis.from_url(settings.REDIS_URL)
        for address in ("127.0.0.1", "203.0.113.7"):
            redis.delete("rota:rate-limit:" + hashlib.sha256(f"tracking {address}".encode()).hexdigest())

    def test_refuses_an_address_that_tries_many_tokens_and_no_other(self, client):
        path_of(delivery())

        answers = [get(client, f"/t/{number:022}") for number in range(8)]
        other = get(client, "/t/other", REMOTE_ADDR="203.0.113.7")

        assert [answer.status_code for answer in answers] == [404] * 5 + [429] * 3
        assert all(int(answer["Retry-After"]) > 0 and not answer.content for answer in answers[5:])
        assert other.status_code == 404

    def test_refuses_nobody_who_has_a_link(self, client):
        path = path_of(delivery())
        for number in range(8):
            get(client, f"/t/{number:022}")

        assert get(client, path).status_code == 200

    def test_costs_no_page_and_one_query_for_a_refused_token(self, client):
        assert ReceiverLink.objects.count() == 0
        for number in range(6):
            get(client, f"/t/{number:022}")

        with CaptureQueriesContext(connection) as queries:
            answer = get(client, f"/t/{'z' * 22}")

        assert (answer.status_code, len(queries)) == (429, 1)

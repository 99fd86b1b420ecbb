"""`/metrics`: who may read it, and what it says."""

import asyncio
import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import OperationalError, connection
from django.urls import get_resolver
from django.utils import timezone
from redis import RedisError

from common.connections import redis
from common.mail.models import Kind, Message
from common.webhooks import endpoints
from config.monitoring import exposition, heartbeats, servers
from delivery.actions import deliveries, schedule
from delivery.errors import MoveRefused
from delivery.geo.distance import Point
from delivery.models import Rules, WebhookEndpoint, WebhookQueueItem
from integration.models import WebhookEndpoint as EndpointOfSeller
from tests.cases import in_turn
from tests.common.webhooks import settling
from tests.common.webhooks.conftest import _send_due
from tests.delivery.drivers.phones import now, phone
from tests.delivery.scheduled import scheduled
from tests.endpoints import ENDPOINTS
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory
from tests.integration.factories import SellerFactory, create_order


class TestAccess:
    def test_is_404_without_a_token_in_the_settings(self, client, db):
        assert client.get("/metrics").status_code == 404
        assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404

    @pytest.mark.parametrize(
        "header", ["", "Bearer", "Bearer ", "Bearer x", "Basic {token}", "{token}", "Bearer {token}x"]
    )
    def test_is_401_without_the_right_one(self, client, metrics_token, header):
        response = client.get("/metrics", headers={"Authorization": header.format(token=metrics_token)})

        assert (response.status_code, response.content) == (401, b"")
        assert response["WWW-Authenticate"] == "Bearer"

    def test_refuses_a_token_that_is_not_ascii(self, client, metrics_token):
        assert client.get("/metrics", HTTP_AUTHORIZATION="Bearer \xff").status_code == 401

    def test_is_plain_text_for_the_right_one(self, client, db, metrics_token):
        response = client.get("/metrics", headers={"Authorization": f"bearer {metrics_token}"})

        assert response.status_code == 200
        assert response["Content-Type"].startswith("text/plain; version=")


def difference(before, after):
    return {key: value - before.get(key, 0) for key, value in after.items() if value != before.get(key, 0)}


class TestRequests:
    def test_are_counted_by_route_method_and_status(self, api, token, scrape):
        delivery = DeliveryFactory.create(token=token)
        before = scrape()

        api.get(f"/api/info-delivery/{delivery.pk}")
        api.get("/api/info-delivery/x")
        api.get("/api/info-delivery/y")

        route = "api/info-delivery/<str:delivery_id>"
        found = difference(before, scrape())
        assert found["rota_http_requests_total", route, "GET", "200"] == 1
        assert found["rota_http_requests_total", route, "GET", "404"] == 2
        assert found["rota_http_request_seconds_count", route, "GET"] == 3
        assert found["rota_http_request_seconds_bucket", route, "+Inf", "GET"] == 3

    def test_have_labels_of_the_service_and_never_of_clients(self, api, client, token, scrape):
        routes = {str(pattern.pattern) for pattern in get_resolver().url_patterns}
        before = scrape()
        for path in ("/nowhere/1", "/api/nowhere/2", "/static/none.js", "/t/abcdef", "/%0a", "/admin/none/3/"):
            client.get(path)
        client.generic("BREW", "/healthz")
        for endpoint in ENDPOINTS:
            getattr(api, endpoint.method)("/" + re.sub(r"<\w+:\w+>", "c0ffee", endpoint.route), endpoint.body)

        # Without what other tests of this process have counted.
        counted = [key for key in difference(before, scrape()) if key[0] == "rota_http_requests_total"]
        endpoints, methods = {key[1] for key in counted}, {key[2] for key in counted}
        assert not {endpoint for endpoint in endpoints if "c0ffee" in endpoint or "abcdef" in endpoint}
        assert {endpoint for endpoint in endpoints if not endpoint.startswith(tuple(routes - {""}))} == {
            "unknown",
            "static",
        }
        assert methods == {"GET", "POST", "PUT", "PATCH", "DELETE", "other"}


@pytest.mark.django_db
class TestDeliveries:
    def test_moves_are_counted_by_trigger_when_they_are_committed(
        self, token, scrape, django_capture_on_commit_callbacks
    ):
        before = scrape()

        with django_capture_on_commit_callbacks(execute=True):
            delivery = DeliveryFactory.create(token=token, accepted=True)
            deliveries.cancel(delivery=delivery, reason="", by=BY, at=timezone.now())

        found = difference(before, scrape())
        moves = {key[2]: value for key, value in found.items() if key[0] == "rota_moves_total"}
        assert moves == {"request": 1, "accept": 1, "cancel": 1}

    def test_a_refused_move_is_not_counted(self, token, scrape, django_capture_on_commit_callbacks):
        delivery = DeliveryFactory.create(token=token)
        before = scrape()

        with django_capture_on_commit_callbacks(execute=True), pytest.raises(MoveRefused):
            deliveries.collect(delivery=delivery, by=BY, at=timezone.now())

        assert not [key for key in difference(before, scrape()) if key[0] == "rota_moves_total"]

    def test_positions_are_counted_as_kept_or_by_why_they_were_dropped(
        self, scrape, django_capture_on_commit_callbacks
    ):
        ana = phone()
        ana.driver.latest.delete()
        before = scrape()
        here, nowhere = PICKUP, Point(0, 0)
        reported = [
            {"latitude": point.latitude, "longitude": point.longitude, "accuracy": 6.5, "at": now()}
            for point in (here, nowhere)
        ]

        with django_capture_on_commit_callbacks(execute=True):
            ana.post("positions/", {"sentAt": now(), "positions": reported})

        found = difference(before, scrape())
        positions = {key[1]: value for key, value in found.items() if key[0] == "rota_positions_total"}
        assert positions == {"kept": 1, "outside_service_area": 1}

    def test_offers_without_a_driver_are_gauges(self, token, scrape):
        late = Rules().late_without_driver + timedelta(minutes=1)
        DeliveryFactory.create(token=token)
        DeliveryFactory.create(token=token, at=timezone.now() - late)
        scheduled(timedelta(hours=2), at=timezone.now() - timedelta(hours=2), token=token)  # offered now
        schedule.offer_due(at=timezone.now())
        DeliveryFactory.create(token=token, accepted=True, driver=DriverFactory.create())
        DriverFactory.create()
        sandbox = TokenFactory.create(sandbox=True)
        DeliveryFactory.create(token=sandbox, at=timezone.now() - 2 * late)
        for not_counted in ({"on_duty": False}, {"active": False}, {"environment": "sandbox"}):
            DriverFactory.create(**not_counted)

        found = scrape()

        assert found["rota_offers_late",] == 1
        assert found["rota_offer_oldest_seconds",] == pytest.approx(late.total_seconds(), abs=30)
        assert found["rota_routes_in_progress", "live", "AVAILABLE"] == 3
        assert found["rota_routes_in_progress", "sandbox", "AVAILABLE"] == 1
        assert found["rota_routes_in_progress", "live", "ACCEPTED"] == 1
        assert (found["rota_drivers", "busy"], found["rota_drivers", "free"]) == (1, 1)

    def test_scheduled_routes_that_were_not_offered_are_a_gauge(self, token, scrape):
        before, lead = timedelta(hours=2), timedelta(seconds=1872)  # without a driver
        for ago in (90, 30, -90):
            ahead = before + lead - timedelta(seconds=ago)
            scheduled(ahead, at=timezone.now() - before, token=token)
        ahead = before + timedelta(minutes=8)
        scheduled(ahead, at=timezone.now() - before, token=TokenFactory.create(sandbox=True))

        assert scrape()["rota_scheduled_overdue",] == 1


@pytest.mark.django_db(transaction=True)
class TestWebhooks:
    @pytest.fixture
    def endpoint(self, token):
        found = token.integrator.endpoints.get(environment=token.environment)
        endpoints.set_url(endpoint=found, url="http://127.0.0.1:9/hook", by=BY, at=timezone.now())
        return found

    def test_the_queue_and_its_age_are_gauges(self, token, endpoint, scrape):
        for minutes in (2, 1, -1, -1):
            DeliveryFactory.create(token=token, at=timezone.now() - timedelta(minutes=minutes))
        WebhookQueueItem.objects.filter(pk=WebhookQueueItem.objects.latest("pk").pk).update(lease=uuid4())

        found = scrape()

        assert found["rota_webhook_queue_items", "due"] == 2
        assert (found["rota_webhook_queue_items", "later"], found["rota_webhook_queue_items", "claimed"]) == (1, 1)
        assert found["rota_webhook_oldest_due_seconds",] == pytest.approx(120, abs=30)
        assert found["rota_check_ok", "webhooks"] == 0

    def test_the_queue_and_the_endpoints_of_sellers_are_counted_too(self, scrape):
        seller = SellerFactory.create()
        of_seller = endpoints.first(EndpointOfSeller, owner=seller.pk, environment="live")
        endpoints.set_url(endpoint=of_seller, url="http://127.0.0.1:9/hook", by=BY, at=timezone.now())
        create_order(seller, at=timezone.now() - timedelta(minutes=2))

        found = scrape()

        assert (found["rota_webhook_queue_items", "due"], found["rota_webhook_endpoints", "closed"]) == (1, 1)
        assert found["rota_webhook_oldest_due_seconds",] == pytest.approx(120, abs=30)
        assert found["rota_check_ok", "webhooks"] == 0

    @in_turn(
        ("changes", "state"),
        [
            ({}, "closed"),
            ({"failures": 4}, "closed"),
            ({"failures": 5}, "open"),
            ({"enabled": False, "off_because": "staff"}, "off"),
            ({"enabled": False, "off_because": "failing", "failures": 9}, "off"),
        ],
    )
    def test_breakers_are_a_gauge(self, endpoint, scrape, changes, state):
        off_since = {"off_since": timezone.now()} if "enabled" in changes else {}
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(**changes, **off_since)

        found = scrape()

        assert {key[1]: value for key, value in found.items() if key[0] == "rota_webhook_endpoints"} == {state: 1}

    def test_attempts_are_counted_by_their_outcome(self, token, endpoint, scrape):
        DeliveryFactory.create(token=token)
        before = scrape()

        asyncio.run(_send_due())  # nothing listens there

        found = difference(before, scrape())
        assert found["rota_webhook_attempts_total", "connect"] == 1
        assert not {"rota_webhook_sent_seconds_count", "rota_webhook_events_ended_total"} & {key[0] for key in found}

    def test_what_has_ended_is_counted_and_the_time_of_what_the_first_attempt_has_sent(self, token, endpoint, scrape):
        first, second, third = (DeliveryFactory.create(token=token).events.get() for _number in range(3))
        before = scrape()

        settling.attempt(first, settling.OK)
        settling.attempt(second, settling.REFUSED)
        settling.attempt(second, settling.OK)
        WebhookQueueItem.objects.filter(event=third).update(tries=16)
        settling.attempt(third, settling.REFUSED)

        found = difference(before, scrape())
        ended = {key[1]: value for key, value in found.items() if key[0] == "rota_webhook_events_ended_total"}
        tried = {key[1]: value for key, value in found.items() if key[0] == "rota_webhook_attempts_total"}
        assert (ended, tried) == ({"sent": 2, "dead": 1}, {"2xx": 2, "5xx": 2})
        assert found["rota_webhook_sent_seconds_count",] == 1


class TestMail:
    def test_that_waits_and_its_age_are_gauges(self, scrape, settings, db):
        settings.EMAIL_URL = "smtp://127.0.0.1:9"
        now = timezone.now()
        for minutes, state in ((30, "sent"), (20, "failed"), (10, "waiting"), (1, "waiting")):
            at = now - timedelta(minutes=minutes)
            ended = {"body_ciphertext": "", "ended_at": None if state == "waiting" else now}
            Message.objects.create(
                kind=Kind.ALERT,
                recipient="a@example.com",
                state=state,
                created_at=at,
                expires_at=now,
                due_at=now,
                **ended,
            )

        found = scrape()

        assert found["rota_mail_waiting",] == 2
        assert found["rota_mail_oldest_seconds",] == pytest.approx(600, abs=30)


class TestServers:
    def test_the_ages_of_signs_of_life_are_gauges_of_those_that_gave_one(self, db, scrape):
        heartbeats._written_at.clear()
        redis().delete(heartbeats._key("beat"))
        redis().set(heartbeats._key("worker"), 1, px=heartbeats._KEPT_MS - 40_000)

        ages = {key[1:]: value for key, value in scrape().items() if key[0] == "rota_heartbeat_age_seconds"}

        assert ages == {("worker",): pytest.approx(55, abs=15)}

    @pytest.mark.parametrize(
        ("module", "name", "error", "missing"),
        [
            (exposition, "read_gauges", OperationalError, "rota_drivers"),
            (servers, "read_database", OperationalError, "rota_database_is_primary"),
            (servers, "read_redis", RedisError, "rota_redis_readable"),
            (heartbeats, "ages", RedisError, "rota_heartbeat_age_seconds"),
        ],
    )
    def test_that_are_away_cost_their_part_only(self, db, scrape, monkeypatch, module, name, error, missing):
        DriverFactory.create()
        heartbeats._written_at.clear()
        heartbeats.written_by("worker")
        parts = {
            "rota_info", "rota_check_ok", "rota_heartbeat_age_seconds", "rota_drivers", "rota_http_requests_total",
            "rota_database_is_primary", "rota_redis_readable",
        }  # fmt: skip  # names
        scrape()

        def fail():
            raise error("away")

        monkeypatch.setattr(module, name, fail)

        assert parts - {key[0] for key in scrape()} == {missing}

    def test_connections_of_the_database_checks_of_readiness_and_the_version_are_gauges(self, db, scrape, settings):
        found = scrape()

        assert found["rota_database_connections", "active"] >= 1
        assert found["rota_database_connections_limit",] >= 10
        assert (found["rota_check_ok", "database"], found["rota_check_ok", "migrations"]) == (1, 1)
        assert found["rota_info", settings.VERSION] == 1

    @in_turn(("archived", "failed", "fails"), [
        ("NULL", "NULL", 0), ("now()", "NULL", 0), ("now()", "now() - interval '1 hour'", 0),
        ("now() - interval '1 hour'", "now()", 1), ("NULL", "now()", 1),
    ])  # fmt: skip  # a table
    def test_an_archive_that_fails_is_a_gauge(self, db, scrape, archived, failed, fails):
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL search_path = pg_temp, pg_catalog, public")
            cursor.execute(
                f"CREATE TEMP VIEW pg_stat_archiver AS SELECT ({archived})::timestamptz AS last_archived_time,"
                f" ({failed})::timestamptz AS last_failed_time"
            )

        assert scrape()["rota_database_archive_fails",] == fails

    @pytest.mark.parametrize(("role", "replicas", "is_master"), [("master", 2, 1), ("slave", 0, 0)])
    def test_their_roles_and_the_identity_of_the_data_are_gauges(
        self, db, scrape, monkeypatch, role, replicas, is_master
    ):
        # The Redis of the tests refuses this command.
        monkeypatch.setattr(redis(), "info", lambda section: {"role": role, "connected_slaves": replicas})
        with connection.cursor() as cursor:
            cursor.execute("SELECT timeline_id, system_identifier FROM pg_control_checkpoint(), pg_control_system()")
            timeline, identifier = cursor.fetchone()

        found = scrape()

        assert (found["rota_database_is_primary",], found["rota_redis_is_master",]) == (1, is_master)
        assert (found["rota_database_timeline",], found["rota_redis_replicas",]) == (timeline, replicas)
        assert found["rota_database_system_identifier",] == pytest.approx(identifier, abs=1024)
        assert (found["rota_database_readable", "system_identifier"], found["rota_redis_readable",]) == (1, 1)

    def test_standbys_are_counted_by_how_they_are_waited_for_with_the_greatest_lag(self, db, scrape):
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL search_path = pg_temp, pg_catalog, public")
            cursor.execute("""
                CREATE TEMP VIEW pg_stat_replication AS SELECT * FROM (VALUES
                    ('streaming', 'sync', interval '40 milliseconds'), ('streaming', 'async', NULL),
                    ('streaming', 'async', interval '61 seconds'), ('backup', 'async', interval '1 hour')
                ) AS rows (state, sync_state, replay_lag)""")

        found = scrape()

        standbys = {state: found["rota_database_standbys", state] for state in ("sync", "quorum", "potential", "async")}
        assert standbys == {"sync": 1, "quorum": 0, "potential": 0, "async": 2}
        lags = {key[1]: value for key, value in found.items() if key[0] == "rota_database_standby_lag_seconds"}
        assert lags == {"sync": 0.04, "async": 61}

    def test_what_the_role_may_not_read_is_left_out_and_said(self, db, scrape):
        with connection.cursor() as cursor:
            cursor.execute(
                "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC; CREATE ROLE rota_without_rights"
            )
            cursor.execute("GRANT pg_read_all_data TO rota_without_rights; SET LOCAL ROLE rota_without_rights")

        found = scrape()

        assert (found["rota_database_is_primary",], found["rota_redis_readable",]) == (1, 0)
        readable = {key[1]: value for key, value in found.items() if key[0] == "rota_database_readable"}
        assert readable == {"standbys": 0, "system_identifier": 0}
        assert not {key[0] for key in found} & {
            "rota_database_standbys", "rota_database_standby_lag_seconds", "rota_database_system_identifier",
            "rota_redis_is_master", "rota_redis_replicas",
        }  # fmt: skip  # names

"""REDIS_URL with Sentinels. What is refused stands in tests/config/test_environment.py."""

from common.redis_url import Sentinels


def sentinels(url):
    found = Sentinels.of(url)
    assert found is not None
    return found


class TestSentinels:
    def test_are_read_with_everything(self):
        found = sentinels("rediss+sentinel://rota:p%40w@h1,h2:26380,[::1]:5/2?master=main&sentinel_password=x%26y")

        assert found.addresses == (("h1", 26379), ("h2", 26380), ("::1", 5))
        assert found.master == "main"
        server = {"db": 2, "username": "rota", "password": "p@w", "ssl": True}  # pragma: allowlist secret
        assert found.server_options == server
        assert found.sentinel_options == {"password": "x&y", "ssl": True}  # pragma: allowlist secret
        start = "sentinel://rota:p%40w@"  # pragma: allowlist secret
        servers = [f"{start}{host}/2" for host in ("h1:26379", "h2:26380", "[::1]:5")]
        assert found.broker_url == ";".join(servers)

    def test_need_a_host_and_the_master_only(self):
        found = sentinels("redis+sentinel://h1?master=main")

        assert (found.server_options, found.sentinel_options) == ({"db": 0}, {})
        assert found.broker_url == "sentinel://h1:26379/0"

    def test_are_not_in_the_url_of_a_server(self):
        assert Sentinels.of("redis://:secret@h1:6379/0?master=main") is None

"""REDIS_URL: one server, or the Sentinels that know which server is the master."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

_PORT = 26379
# With `rediss+sentinel` connections to the Sentinels and to the servers are encrypted.
_SCHEMES = ("redis+sentinel", "rediss+sentinel")


@dataclass(frozen=True)
class Sentinels:
    """`redis+sentinel://[USER][:PASSWORD@]HOST[:PORT],HOST[:PORT]/[DATABASE]?master=NAME[&sentinel_password=PASSWORD]`.

    User and password are those of the servers.
    """

    addresses: tuple[tuple[str, int], ...]
    master: str
    database: int
    user: str | None
    password: str | None
    sentinel_password: str | None
    tls: bool

    @classmethod
    def of(cls, url: str) -> "Sentinels | None":
        """Those that the URL names; None for the URL of a server. Raises ValueError, whose text does not repeat it."""
        scheme, _colon, rest = url.partition("://")
        if scheme.lower() not in _SCHEMES:
            return None
        # Not split with the rest: newer Pythons refuse an address of IPv6 that is not the first host.
        authority = re.split("[/?#]", rest, maxsplit=1)[0]
        parts = urlsplit(f"//host{rest.removeprefix(authority)}")
        credentials, _at, hosts = authority.rpartition("@")
        user, _colon, password = credentials.partition(":")
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        master, sentinel_password = query.pop("master", ""), query.pop("sentinel_password", None)
        database = parts.path.strip("/") or "0"
        if not master:
            raise ValueError("the name of the master is missing: ?master=NAME")
        if query:
            raise ValueError("behind the question mark there are only master and sentinel_password")
        if not database.isdecimal():
            raise ValueError("the path is not the number of a database")
        return cls(
            addresses=tuple(_address(host) for host in hosts.split(",")),
            master=master,
            database=int(database),
            user=unquote(user) or None,
            password=unquote(password) or None,
            sentinel_password=sentinel_password,
            tls=scheme.lower() == "rediss+sentinel",
        )

    @property
    def server_options(self) -> dict[str, Any]:
        """What redis-py takes for connections to the servers."""
        found = {"db": self.database, "username": self.user, "password": self.password, "ssl": self.tls or None}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def sentinel_options(self) -> dict[str, Any]:
        """And to the Sentinels."""
        found = {"password": self.sentinel_password, "ssl": self.tls or None}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def broker_url(self) -> str:
        """The form that kombu uses, which takes the name of the master from its option `master_name`."""
        password = f":{quote(self.password, safe='')}" if self.password else ""
        credentials = f"{quote(self.user or '', safe='')}{password}@" if self.user or self.password else ""
        return ";".join(
            f"sentinel://{credentials}{f'[{host}]' if ':' in host else host}:{port}/{self.database}"
            for host, port in self.addresses
        )


def _address(text: str) -> tuple[str, int]:
    host = urlsplit(f"//{text}")
    try:
        port = host.port
    except ValueError:
        raise ValueError("the port of a Sentinel is no number up to 65535") from None
    if not host.hostname:
        raise ValueError("the host of a Sentinel is missing")
    return host.hostname, port or _PORT

"""The mail server that EMAIL_URL names. Pure."""

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

PORTS = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}


@dataclass(frozen=True)
class MailServer:
    """Where and how messages are handed over. Both kinds of encryption check the server's certificate."""

    host: str = ""
    port: int = 25
    user: str = ""
    password: str = ""
    starttls: bool = False
    tls: bool = False


def parse(url: str) -> MailServer:
    """The server of a URL such as smtp+starttls://mail.example.com:587, with or without credentials.

    An empty URL names none. `environment_values.email_url` has checked it. User name and password are percent-decoded.
    """
    if not url:
        return MailServer()
    parts = urlsplit(url)
    return MailServer(
        host=parts.hostname or "",
        port=parts.port or PORTS[parts.scheme],
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        starttls=parts.scheme == "smtp+starttls",
        tls=parts.scheme == "smtps",
    )

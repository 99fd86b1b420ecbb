"""Looks up the host name of a webhook URL when it is saved.

When a webhook is sent, aiohttp looks the name up within the deadline of the request; see `sending` and `dispatch`.
"""

import socket

from common.deadlines import BoundedCalls, DeadlinePassed, TooManyCalls
from delivery.errors import LookUpsBusy, WebhookHostUnresolved

# Fewer than the threads of a web process, so that look-ups which hang leave threads for other requests.
_MAX_CONCURRENT = 3
_SECONDS = 3
_calls = BoundedCalls(most=_MAX_CONCURRENT, seconds=_SECONDS)


def addresses(host: str) -> list[str]:
    """The IP addresses of a host name, at least one. Takes up to 3 s, so it must not be called in a transaction.

    Raises WebhookHostUnresolved, or LookUpsBusy while three earlier look-ups of this process have not returned.
    """
    try:
        found = _calls.run(lambda: socket.getaddrinfo(host, None, type=socket.SOCK_STREAM))
    except TooManyCalls as error:
        raise LookUpsBusy(
            "Too many host names are being looked up at the moment. Nothing was changed; try again in a minute."
        ) from error
    except DeadlinePassed as error:
        raise WebhookHostUnresolved(
            "Looking up %(host)s took more than %(seconds)s seconds. Check its DNS servers, or try again later.",
            host=host,
            seconds=_calls.seconds,
        ) from error
    except (OSError, UnicodeError) as error:  # UnicodeError: not a valid DNS name
        if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
            raise WebhookHostUnresolved(
                "No DNS server gave an answer for %(host)s. Check its DNS servers, or try again later.", host=host
            ) from error
        raise WebhookHostUnresolved(
            "%(host)s does not resolve to an address. Check its spelling and its DNS records.", host=host
        ) from error
    return [str(entry[4][0]) for entry in found]

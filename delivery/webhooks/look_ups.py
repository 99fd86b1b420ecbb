"""Looks up the host name of a webhook URL when it is saved. Pure but for the look-up.

What is sent is resolved by aiohttp, within the deadline of its request; see `sending` and `dispatch`.
"""

import socket

from common.deadlines import BoundedCalls, DeadlinePassed, TooManyCalls
from delivery.errors import LookUpsBusy, WebhookHostUnresolved

# Below the number of a web process's threads, so that hung look-ups leave some for other requests.
_MOST = 3
_SECONDS = 3
_calls = BoundedCalls(most=_MOST, seconds=_SECONDS)


def addresses(host: str) -> list[str]:
    """The IP addresses that a name leads to now, one at least. Waits 3 s at most; do not call it in a transaction.

    Raises WebhookHostUnresolved, or LookUpsBusy while three look-ups of this process have not returned.
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
    except (OSError, UnicodeError) as error:  # UnicodeError: no name that DNS can have
        if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
            raise WebhookHostUnresolved(
                "No DNS server gave an answer for %(host)s. Check its DNS servers, or try again later.", host=host
            ) from error
        raise WebhookHostUnresolved(
            "%(host)s does not resolve to an address. Check its spelling and its DNS records.", host=host
        ) from error
    return [str(entry[4][0]) for entry in found]

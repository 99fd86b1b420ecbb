"""Between two tests: the requests that outlive a page."""

import time

from django.db import connection

_OTHERS = """
    SELECT left(query, 200) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND backend_type = 'client backend' AND state <> 'idle'
"""


def wait(*, seconds: float = 20) -> None:
    """Wait until no other connection is in a transaction.

    A page is closed without its last requests, such as those that answer a message of its stream, and the server works
    them to their end. Their rows would be seen by the next test. Two looks, because a request has read its body before
    its transaction begins.
    """
    end = time.monotonic() + seconds
    quiet = 0
    with connection.cursor() as cursor:
        while quiet < 2:
            cursor.execute(_OTHERS)
            others = [query for (query,) in cursor.fetchall()]
            quiet = 0 if others else quiet + 1
            assert time.monotonic() < end, f"Still running: {others}"
            time.sleep(0.02)

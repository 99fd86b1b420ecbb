"""What is loaded before a fork, so that the processes share the memory of it."""

import gc

from django.urls import get_resolver

from delivery.geo import distance

# New objects, a few MB. A call makes thousands, and by default Python collects after 700, or 2,000 in newer versions.
_COLLECTED_AFTER = 10_000


def load() -> None:
    """Load the URLs with their views, leave what is loaded out of all later collections, and make these rarer.

    To be called when Django is set up. A worker needs the URLs for links in messages and webhooks. A collection writes
    into each object that it visits, so that the process would get a copy of that page of memory.
    """
    _ = get_resolver().reverse_dict  # imports the views, and compiles the pattern of each URL
    distance.wgs84()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECTED_AFTER)

"""A queue between threads in which each sender waits for its own items only."""

import threading
from collections import deque
from collections.abc import Hashable
from queue import SimpleQueue
from typing import Generic, TypeVar

Item = TypeVar("Item")


class FairQueue(Generic[Item]):
    """Round-robin scheduling: `get` takes the oldest item of each sender in turn.

    With a single FIFO queue, a sender with a thousand items would delay everybody's next one by a thousand. Both
    methods take constant time and may be called from any thread.
    """

    def __init__(self) -> None:
        # In the order in which the senders are served. A sender without an item has no entry.
        self._waiting: dict[Hashable, deque[Item]] = {}
        self._lock = threading.Lock()
        self._count: SimpleQueue[None] = SimpleQueue()  # an element for each item; faster than a semaphore

    def put(self, sender: Hashable, item: Item) -> None:
        with self._lock:
            self._waiting.setdefault(sender, deque()).append(item)
        self._count.put(None)

    def get(self) -> Item:
        """Waits for an item."""
        self._count.get()
        with self._lock:
            sender = next(iter(self._waiting))
            items = self._waiting.pop(sender)
            item = items.popleft()
            if items:
                self._waiting[sender] = items  # behind the other senders
        return item

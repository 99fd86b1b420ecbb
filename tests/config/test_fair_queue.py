"""The queue of requests: senders take turns, each one's items keep their order, and nothing is lost between threads."""

import threading

from config.fair_queue import FairQueue


def drained(queue, count):
    return [queue.get() for _ in range(count)]


class TestFairQueue:
    def test_serves_a_sender_next_although_another_has_many_items(self):
        queue: FairQueue[str] = FairQueue()
        for number in range(1000):
            queue.put("flood", f"flood-{number}")

        queue.put("shop", "shop-0")

        assert drained(queue, 3) == ["flood-0", "shop-0", "flood-1"]

    def test_takes_the_senders_in_turn_and_keeps_the_order_of_each(self):
        queue: FairQueue[tuple[str, int]] = FairQueue()
        for sender, number in [("a", 0), ("a", 1), ("b", 0), ("a", 2), ("c", 0), ("b", 1)]:
            queue.put(sender, (sender, number))

        assert drained(queue, 6) == [("a", 0), ("b", 0), ("c", 0), ("a", 1), ("b", 1), ("a", 2)]

    def test_gives_a_sender_without_items_no_turn_and_keeps_nothing_of_it(self):
        queue: FairQueue[int | str] = FairQueue()
        for number in range(100):
            queue.put(f"sender-{number}", number)
        drained(queue, 100)

        queue.put("a", "next")

        assert queue.get() == "next"
        assert queue._waiting == {}

    def test_loses_and_doubles_nothing_between_threads(self):
        queue: FairQueue[tuple[int, int]] = FairQueue()
        taken: list[tuple[int, int]] = []

        def take():
            taken.extend(drained(queue, 500))

        def put(sender):
            for number in range(500):
                queue.put(sender, (sender, number))

        threads = [threading.Thread(target=take, daemon=True) for _ in range(4)]
        threads += [threading.Thread(target=put, args=(sender,)) for sender in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)

        assert sorted(taken) == [(sender, number) for sender in range(4) for number in range(500)]

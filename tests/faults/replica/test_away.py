"""A replica that is stopped or stands still: pages are answered from the primary."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.report import print_figures
from tests.faults.waiting import until

COUNTED_SECONDS = 6  # a process adds its counts every five


def asked_at_once(browser, path):
    """Six requests at the same time, twice the threads of the web process: the longest seconds, and the texts."""

    def ask(_number):
        started = time.monotonic()
        text = browser.get(path)
        return time.monotonic() - started, text

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(ask, range(6)))
    return max(seconds for seconds, _text in answers), [text for _seconds, text in answers]


@pytest.fixture(scope="module")
def environment(replica):
    return {"DATABASE_REPLICA_URL": replica.url, "DATABASE_STATEMENT_SECONDS": "2"}


def seconds_until_read_again(browser, web, path):
    """Until the counts of the process say that it has answered the list from the replica."""
    time.sleep(COUNTED_SECONDS)
    before = web.reads("replica")

    def is_read():
        browser.get(path)
        return web.reads("replica") > before

    return COUNTED_SECONDS + until(is_read, what="the replica is in use again")


class TestReplicaThatIsStopped:
    def test_costs_no_page(self, browser, web, page_of, replica, end_delivery, log):
        asked_at_once(browser, page_of("deliveries"))  # each thread of the web process has a connection
        replica.stop()
        try:
            delivery = end_delivery()
            slowest, texts = asked_at_once(browser, page_of("deliveries"))
            later, _texts = asked_at_once(browser, page_of("report"))
        finally:
            replica.start()
        back = seconds_until_read_again(browser, web, page_of("deliveries"))

        print_figures("Replica stopped", slowest_page=slowest, slowest_page_later=later, seconds_until_used_again=back)
        assert all(delivery in text for text in texts)
        assert "are read from the primary for 10 s" in log()


class TestReplicaThatStandsStill:
    def test_costs_one_wait(self, browser, web, page_of, replica, end_delivery, log):
        asked_at_once(browser, page_of("deliveries"))
        delivery = end_delivery()
        with replica.frozen():
            slowest, texts = asked_at_once(browser, page_of("deliveries"))
            later, _texts = asked_at_once(browser, page_of("report"))
        back = seconds_until_read_again(browser, web, page_of("deliveries"))

        print_figures(
            "Replica stands still", slowest_page=slowest, slowest_page_later=later, seconds_until_used_again=back
        )
        assert all(delivery in text for text in texts)
        assert "PostgreSQL does not answer (replica)" in log()

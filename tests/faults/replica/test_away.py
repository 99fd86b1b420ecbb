"""A replica that lags, is stopped, or stands still: pages are answered from the primary."""

import time
from concurrent.futures import ThreadPoolExecutor

from tests.faults.report import print_figures
from tests.faults.waiting import until


def asked_at_once(browser, path):
    """Six requests at the same time, twice the threads of the web process: the longest seconds, and the texts."""

    def ask(_number):
        started = time.monotonic()
        text = browser.get(path)
        return time.monotonic() - started, text

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(ask, range(6)))
    return max(seconds for seconds, _text in answers), [text for _seconds, text in answers]


class TestReplicaThatLags:
    def test_is_not_read_from_until_it_has_caught_up(self, browser, web, page_of, replica, end_delivery):
        with replica.paused():
            delivery = end_delivery()
            seconds = until(lambda: web.lag() > 10, what="the replica is too far behind")
            text = browser.get(page_of("deliveries"))
            until(lambda: not web.check()["ok"], what="the check says so")
            why, reported = web.check()["why"], web.metrics('rota_check_ok{check="replica"}')
        back = until(web.uses_replica, what="the replica is in use again")

        print_figures("Replica that lags", seconds_until_not_used=seconds, seconds_until_used_again=back)
        assert delivery in text
        assert (why, reported) == ("it is too far behind", ['rota_check_ok{check="replica"} 0.0'])


class TestReplicaThatIsStopped:
    def test_costs_no_page(self, browser, web, page_of, replica, end_delivery, log):
        asked_at_once(browser, page_of("deliveries"))  # each thread of the web process has a connection
        replica.stop()
        try:
            delivery = end_delivery()
            slowest, texts = asked_at_once(browser, page_of("deliveries"))
            until(lambda: "because of the replica" in log(), what="the outage is in the log")
            later, _texts = asked_at_once(browser, page_of("report"))
        finally:
            replica.start()
        back = until(web.uses_replica, what="the replica is in use again")

        print_figures("Replica stopped", slowest_page=slowest, slowest_page_later=later, seconds_until_used_again=back)
        assert all(delivery in text for text in texts)
        until(lambda: "are read from the replica again" in log(), what="the end is in the log")


class TestReplicaThatStandsStill:
    def test_costs_one_wait(self, browser, web, page_of, replica, end_delivery, log):
        asked_at_once(browser, page_of("deliveries"))
        delivery = end_delivery()
        with replica.frozen():
            slowest, texts = asked_at_once(browser, page_of("deliveries"))
            later, _texts = asked_at_once(browser, page_of("report"))
            until(lambda: not web.check()["ok"], what="the check says so")
            why, lag = web.check()["why"], web.lag()
        back = until(web.uses_replica, what="the replica is in use again")

        print_figures(
            "Replica stands still", slowest_page=slowest, slowest_page_later=later, seconds_until_used_again=back
        )
        assert all(delivery in text for text in texts)
        assert (why, lag) == ("it does not answer", None)
        assert "because the replica failed: the replica does not answer" in log()


def test_requests_are_counted_by_the_server_that_answered(browser, web, page_of):
    """Those of the tests above, and one from the replica. The process adds its counts every five seconds."""
    browser.get(page_of("deliveries"))

    def sources():
        return {line.split('"')[1] for line in web.metrics("rota_replica_reads_total{")}

    until(lambda: sources() >= {"replica", "primary_away", "primary_failed"}, what="the counts")

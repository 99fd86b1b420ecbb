"""The dispatch board in a dispatcher's browser."""

from datetime import timedelta

from django.utils import timezone


def open_board(tab, people, locale="en-US", *, name="dora"):
    """A dispatcher's browser. The clock of its page runs, and can be put forward."""
    people(name, group="Dispatchers")
    browser = tab(locale)
    browser.log_in(name)
    browser.page.clock.install()
    browser.go("/panel/board/")
    return browser


def pause(page):
    """Stop the page's clock."""
    page.clock.pause_at(timezone.now() + timedelta(seconds=5))


def wait_for_hold(page):
    """The end of the seconds in which a move can be undone."""
    page.clock.fast_forward(6_000)

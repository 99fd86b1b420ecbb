"""The dispatch board, on the server of production that tells it what changes."""

import pytest


@pytest.fixture
def site(web_server):
    return web_server


@pytest.fixture
def open_board(tab, people):
    """Open the board as a dispatcher. The clock of its page runs, and can be put forward."""

    def make(*, name="dora", locale="en-US", script=""):
        people(name, group="Dispatchers")
        browser = tab(locale)
        browser.log_in(name)
        browser.page.clock.install()
        browser.page.add_init_script(script)
        browser.go("/panel/board/")
        return browser

    return make

"""A browser of somebody who is logged in, without its scripts."""

import requests
from django.test import Client

from tests.faults.waiting import DEADLINE_SECONDS


class Browser:
    """A person who is logged in."""

    def __init__(self, web, user):
        client = Client()
        client.force_login(user)
        self._address, self.session = web.address, requests.Session()
        self.session.trust_env = False
        self.session.cookies.set("sessionid", client.cookies["sessionid"].value)

    def status_of(self, path):
        return self.session.get(self._address + path, timeout=DEADLINE_SECONDS).status_code

    def get(self, path):
        answer = self.session.get(self._address + path, timeout=DEADLINE_SECONDS)
        assert answer.status_code == 200, answer.text
        return answer.text

    def post(self, page, **fields):
        """Send the form of a page."""
        self.get(page)
        fields["csrfmiddlewaretoken"] = self.session.cookies["csrftoken"]
        answer = self.session.post(self._address + page, data=fields, allow_redirects=False, timeout=DEADLINE_SECONDS)
        assert answer.status_code == 302, answer.text

"""Malformed ids, page numbers and texts in requests to the admin: refused, never a 500, nothing written."""

from contextlib import nullcontext

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.urls import NoReverseMatch, reverse

from access import sessions
from tests.access.test_rights_by_url import nothing_rendered

MALFORMED = ["x", "-1", "", "%", "0", "1" * 5000, "a\0b", "00000000-0000-0000-0000-00000000000g", "null", "1e9"]
SCREENS = sorted(admin.site._registry, key=lambda model: model._meta.label_lower)


@pytest.fixture
def browser(admin_client):
    admin_client.raise_request_exception = False
    return admin_client


def label(model, page):
    return f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}"


def test_a_page_of_the_search(browser):
    pages = ["x", "0", "-1", "9" * 5000, "%ff", ""]

    assert {browser.get("/admin/search/", {"s": "a", "page": page}).status_code for page in pages} <= {200, 400}


@pytest.mark.parametrize("model", SCREENS, ids=lambda model: model._meta.label_lower)
class TestScreen:
    def test_answers_what_is_malformed(self, browser, model, rf, admin_user):
        request = rf.get("/")
        request.user = admin_user
        self.actions_of_rows_that_do_not_exist(browser, model, request)
        self.a_page_of_the_list(browser, model)
        self.an_object(browser, model)
        self.every_field_of_the_form(browser, model, request)

    def actions_of_rows_that_do_not_exist(self, browser, model, request):
        url = reverse(label(model, "changelist"))

        agreed = {"post": "yes", "confirmed": "yes", "reason": "x"}

        names = (*admin.site._registry[model].get_actions(request), "no_such_action")
        # One and the same code of the list reads the ids for every action, which then sees no rows.
        sent = {*((name, "-1") for name in names), *((names[0], text) for text in MALFORMED)}

        statuses = {
            browser.post(url, {"action": name, "_selected_action": [text], **agreed}).status_code for name, text in sent
        }

        assert statuses <= {200, 302, 400}
        assert LogEntry.objects.count() == 0

    def a_page_of_the_list(self, browser, model):
        url = reverse(label(model, "changelist"))

        # What a list shows of its address is the same for all of them.
        with nothing_rendered() if model is not SCREENS[0] else nullcontext():
            statuses = {browser.get(url, {"p": text, "q": text}).status_code for text in MALFORMED}

        assert statuses <= {200, 302, 400}

    def an_object(self, browser, model):
        statuses = {
            browser.get(f"{reverse(label(model, 'changelist'))}{text.replace('%', '%25')}/change/").status_code
            for text in MALFORMED
            if text.isprintable()
        }

        assert statuses <= {200, 301, 302, 400, 404, 414}

    def every_field_of_the_form(self, browser, model, request):
        screen, before = admin.site._registry[model], model._default_manager.count()
        url = f"{reverse(label(model, 'changelist'))}add/"
        if hasattr(screen, "add_page"):  # a page of the panel
            assert {browser.post(url, {"name": text}).status_code for text in MALFORMED} == {302}
            assert model._default_manager.count() == before
            return
        if not screen.has_add_permission(request):
            try:
                reverse(label(model, "add"))
            except NoReverseMatch:
                return  # no such page
            assert browser.post(url, {}).status_code == 403
            assert model._default_manager.count() == before
            return
        names = [*screen.get_form(request).base_fields]
        for inline in screen.get_inline_instances(request):
            prefix = inline.get_formset(request).get_default_prefix()
            names += [f"{prefix}-TOTAL_FORMS", f"{prefix}-INITIAL_FORMS"]
            names += [f"{prefix}-0-{name}" for name in (*inline.get_formset(request).form.base_fields, "id")]

        statuses = [browser.post(url, dict.fromkeys(names, text)).status_code for text in filter(None, MALFORMED)]

        assert {*statuses} <= {200, 302, 400}
        assert model._default_manager.count() == before + statuses.count(302)  # any text can be the name of an account


def test_an_error_of_an_action_itself_is_a_500(browser, admin_user, monkeypatch):
    monkeypatch.setattr(sessions, "end_sessions", lambda _people: int("not a number"))
    data = {"action": "end_sessions", "_selected_action": [admin_user.pk], "confirmed": "yes"}

    response = browser.post(reverse("admin:auth_user_changelist"), data)

    assert response.status_code == 500

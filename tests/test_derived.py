"""A run of the tests ends before the first one if a file that is made of others is old."""

from config.management.commands import messages
from panel.guide import description
from tests import derived


def test_says_that_the_description_is_old(monkeypatch, tmp_path):
    old = tmp_path / "openapi.json"
    old.write_text(description.FILE.read_text().replace("Quote a delivery", "Quote deliveries"))
    monkeypatch.setattr(description, "FILE", old)

    assert derived.stale().endswith("run `manage.py openapi`")


def test_says_that_texts_are_not_compiled(monkeypatch):
    monkeypatch.setattr(messages, "compiled", lambda _catalog: b"")

    assert derived.stale().endswith("run `manage.py messages`")


def test_says_nothing_of_what_is_current():
    assert derived.stale() == ""

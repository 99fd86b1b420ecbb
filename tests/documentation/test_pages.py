"""The guide at /docs/: every file is a page, every link leads somewhere, nothing is raw HTML."""

import re

import pytest
from django.test import Client

from documentation import error_codes, pages
from documentation.catalogue import CODES

FILES = sorted(pages.FOLDER.rglob("*.md"))
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)]+)\)")


@pytest.fixture
def browser():
    return Client()


def anchors(name):
    return {"", *(heading.anchor for heading in pages.page(name, "en").headings)}


class TestGuide:
    def test_has_a_page_for_every_file(self):
        names = {path.stem if path.name != "README.md" else "" for path in FILES}

        assert names == pages.NAMES

    @pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
    def test_links_lead_to_headings_of_pages(self, path):
        for target in LINK.findall(FENCE.sub("", path.read_text())):
            file_name, _, anchor = target.partition("#")
            name = (file_name or path.name).removesuffix(".md")

            assert anchor in anchors("" if name == "README" else name), target

    @pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
    def test_blocks_of_code_name_their_language(self, path):
        infos = [info for info, _code in FENCE.findall(path.read_text())]

        assert [
            info for info in infos if not re.fullmatch(r"text|json|(bash|python|javascript|php) [a-z-]+", info)
        ] == []

    def test_lists_every_error_code(self):
        assert (pages.FOLDER / "error-codes.md").read_text() == error_codes.markdown(), "run `manage.py error_codes`"


class TestPage:
    @pytest.mark.parametrize("name", sorted(pages.NAMES))
    def test_is_shown_without_a_log_in_and_without_a_query(self, browser, name):
        response = browser.get(pages.url(name))

        assert response.status_code == 200
        assert pages.page(name, "en").html in response.content.decode()

    def test_is_not_found_under_another_name(self, browser):
        assert browser.get("/docs/nothing").status_code == 404
        assert browser.get("/docs/README").status_code == 404

    def test_links_to_pages_and_to_error_codes(self):
        html = pages.page("sandbox", "en").html

        assert '<a href="/docs/deliveries#everything-about-a-delivery"><code>' in html
        assert '<a href="/docs/errors/move_refused"><code>move_refused</code></a>' in html
        assert ".md" not in html

    def test_escapes_html(self):
        html = pages._markdown().render("<script>alert(1)</script>\n\n[a](javascript:alert(1))")

        assert "<script" not in html
        assert "href" not in html

    def test_has_the_frame_in_the_language_of_the_reader_and_the_text_in_english(self, browser):
        browser.cookies["language"] = "pt-br"

        text = browser.get("/docs/quickstart").content.decode()

        assert '<html lang="pt-br">' in text
        assert "Nesta página" in text
        assert '<article class="prose" lang="en">' in text
        assert ">Copiar</button>" in text

    def test_is_that_of_the_language_if_there_is_one(self, tmp_path, monkeypatch):
        monkeypatch.setattr(pages, "FOLDER", tmp_path)
        (tmp_path / "pt-br").mkdir()
        (tmp_path / "limits.md").write_text("# Limits")
        (tmp_path / "pt-br" / "limits.md").write_text("# Limites")

        found = [pages.page.__wrapped__("limits", language) for language in ("en", "pt-br")]

        assert [(page.title, page.language) for page in found] == [("Limits", "en"), ("Limites", "pt-br")]


class TestErrorPage:
    @pytest.mark.parametrize("entry", CODES.values(), ids=CODES)
    def test_has_what_the_code_means_and_a_body(self, browser, entry):
        response = browser.get(f"/docs/errors/{entry.code}")

        assert response.status_code == 200
        assert response.context["entry"] == entry
        assert [f'"code": "{entry.code}"' in body for _api, body in response.context["bodies"]] == [True] * len(
            entry.apis
        )

    def test_is_not_found_for_another_code(self, browser):
        assert browser.get("/docs/errors/nothing").status_code == 404

"""The guide at /docs/ in each language: every file is a page, every link leads somewhere, nothing is raw HTML."""

import re
from html import escape
from urllib.parse import urldefrag, urljoin

import pytest
from django.conf import settings
from django.test import Client
from django.utils.translation import gettext, override
from lxml.html import document_fromstring

from panel.guide import description, examples, markdown, pages
from panel.guide.catalogue import CODES, A, Repeat

LANGUAGES = [language for language, _name in settings.LANGUAGES]
FILES = sorted(pages.FOLDER.glob("*.md"))
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def browser():
    return Client()


def read(browser, url):
    """The targets of a page's links, and the ids of its elements."""
    response = browser.get(url)
    if not response["Content-Type"].startswith("text/html"):
        return [], []
    root = document_fromstring(response.content)
    targets = [urljoin(url, link.attrib["href"]) for link in root.iter("a") if "href" in link.attrib]
    return targets, [element.attrib["id"] for element in root.iter("*") if "id" in element.attrib]


def rows(name, language):
    """The texts of the cells of each row of a page's tables."""
    root = document_fromstring(markdown.page(name, language).html)
    found = [["".join(map(str, cell.itertext())) for cell in row.iter("td")] for row in root.iter("tr")]
    return [cells for cells in found if cells]


def calls(language):
    """Each call of the description with its path and its method."""
    for path, methods in description.translated(language)["paths"].items():
        for method, call in methods.items():
            yield path, method, call


class TestGuide:
    def test_has_a_page_for_every_file(self):
        names = {path.stem if path.name != "README.md" else "" for path in FILES}

        assert names == pages.NAMES - {"error-codes"}  # made of the catalogue

    @pytest.mark.parametrize("path", ["/account/login/", "/nowhere"])
    def test_is_linked_where_a_newcomer_arrives(self, browser, path):
        assert 'href="/docs/"' in browser.get(path).content.decode()

    def test_blocks_of_code_name_their_language(self):
        infos = {info for path in FILES for info, _code in FENCE.findall(path.read_text())}

        assert [
            info for info in infos if not re.fullmatch(r"text|json|(bash|python|typescript|php|go|java) [a-z-]+", info)
        ] == []

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_lists_every_error_code(self, language):
        html = markdown.page("error-codes", language).html

        assert [code for code in CODES if f'<a href="/docs/errors/{code}"><code>{code}</code></a>' not in html] == []

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_lists_every_call_of_an_api_on_its_page(self, language):
        listed = {
            (page, *cells)
            for page in ("deliveries", "orders")
            for cells in rows(page, language)
            if " /api/" in cells[0]
        }

        assert listed == {
            ("orders" if "/integration/" in path else "deliveries", f"{method.upper()} {path}", call["summary"], status)
            for path, method, call in calls(language)
            for status in call["responses"]
            if status.startswith("2")
        }

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_says_of_repeating_a_call_what_the_error_codes_say(self, language):
        of_causes = dict(cells[-2:] for cells in rows("retries", language))
        said = {cause: text for causes, text in of_causes.items() for cause in causes.split(", ")}

        assert {cells[0] for cells in rows("error-codes", language)} == set(CODES)
        for code, entry in CODES.items():
            with override(language):
                expected = gettext(entry.repeat.value)
            assert (said.get(f"{entry.status} {code}") or said[str(entry.status)]) == expected, code

    def test_says_that_nothing_was_changed_only_where_the_meaning_agrees(self):
        for code, entry in CODES.items():
            assert not ("may have had its effect" in entry.meaning and entry.repeat is not Repeat.UNKNOWN), code
            assert not ("Nothing was changed" in entry.meaning and "Nothing" not in entry.repeat.value), code
        for code, answer in examples.answers_of(A).items():  # as if a POST without a key had this answer
            assert answer.body["retryable"] == (CODES[code].repeat in {Repeat.WAIT, Repeat.SAME_KEY}), code


@pytest.mark.parametrize("language", LANGUAGES)
class TestLinks:
    def test_lead_to_pages_and_to_elements_of_them(self, browser, language):
        browser.cookies[settings.LANGUAGE_COOKIE_NAME] = language
        found, waiting, dead = {}, {pages.url("")}, []
        while waiting:
            url = waiting.pop()
            links, ids = found[url] = read(browser, url)
            assert len(ids) == len(set(ids)), f"{url} has an id twice"
            waiting |= {page for page, _anchor in map(urldefrag, links) if page.startswith("/docs/")} - set(found)

        # The reference's script makes an element of each call.
        found["/docs/reference"][1].extend(urldefrag(description.url(call))[1] for *_, call in calls(language))
        for url, (links, _ids) in found.items():
            for page, anchor in map(urldefrag, links):
                exists = page in found or browser.get(page).status_code in {200, 302}
                if not exists or (anchor and anchor not in found[page][1]):
                    dead.append(f"{url} links to {page}#{anchor}")

        assert dead == []
        assert set(found) == {
            *map(pages.url, pages.NAMES),
            *(f"/docs/errors/{code}" for code in CODES),
            "/docs/reference",
            *(f"/docs/{program}" for program in pages.PROGRAMS),
        }


class TestPage:
    @pytest.mark.parametrize("language", LANGUAGES)
    def test_is_shown_without_a_log_in_and_without_a_query(self, browser, language):
        browser.cookies[settings.LANGUAGE_COOKIE_NAME] = language

        for name in sorted(pages.NAMES):
            response = browser.get(pages.url(name))

            assert response.status_code == 200
            assert markdown.page(name, language).html in response.content.decode(), name

    def test_is_not_found_under_another_name(self, browser):
        assert browser.get("/docs/nothing").status_code == 404
        assert browser.get("/docs/README").status_code == 404

    def test_links_to_pages_and_to_error_codes(self):
        html = markdown.page("sandbox", "en").html

        assert '<a href="/docs/deliveries#everything-about-a-delivery"><code>' in html
        assert '<a href="/docs/errors/move_refused"><code>move_refused</code></a>' in html
        assert ".md" not in html

    def test_has_the_title_of_its_column_in_each_cell_of_a_table(self):
        html = markdown._markdown().render("| `a` | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n| c |\n|---|\n| 5 |\n")

        cells = document_fromstring(html).iter("td")
        assert [(cell.text, cell.attrib["data-title"]) for cell in cells] == [
            ("1", "a"), ("2", "b"), ("3", "a"), ("4", "b"), ("5", "c"),
        ]  # fmt: skip  # a table

    def test_escapes_html(self):
        html = markdown._markdown().render("<script>alert(1)</script>\n\n[a](javascript:alert(1))")

        assert "<script" not in html
        assert "href" not in html

    def test_is_in_the_language_of_the_reader(self, browser):
        browser.cookies[settings.LANGUAGE_COOKIE_NAME] = "pt-br"

        text = browser.get("/docs/quickstart").content.decode()

        assert '<html lang="pt-br">' in text
        assert "Nesta página" in text
        assert ">Início rápido</h1>" in text
        assert ">Copiar</button>" in text

    def test_has_the_anchors_and_the_code_of_the_english_page_in_every_language(self, tmp_path, monkeypatch):
        monkeypatch.setattr(pages, "FOLDER", tmp_path)
        (tmp_path / "pt-br").mkdir()
        (tmp_path / "limits.md").write_text("# Limits\n\n## Calls\n\n```text\nq=50\n```\n")
        (tmp_path / "pt-br" / "limits.md").write_text("# Limites\n\n## Chamadas\n\n```text\n```\n")

        page = markdown.page.__wrapped__("limits", "pt-br")

        assert page.title == "Limites"
        assert page.headings == (markdown.Section(2, "calls", "Chamadas", "q=50\n"),)
        assert '<h2 id="calls">Chamadas</h2>' in page.html
        assert "q=50" in page.html

    @pytest.mark.parametrize("more", ["## Calls", "```text\n```"])
    def test_refuses_a_translation_with_other_headings_or_blocks_of_code(self, tmp_path, monkeypatch, more):
        monkeypatch.setattr(pages, "FOLDER", tmp_path)
        (tmp_path / "pt-br").mkdir()
        (tmp_path / "limits.md").write_text(f"# Limits\n\n{more}")
        (tmp_path / "pt-br" / "limits.md").write_text("# Limites")

        with pytest.raises(ValueError, match="zip"):
            markdown.page.__wrapped__("limits", "pt-br")


class TestMarkdown:
    def test_is_the_page_as_it_is_written(self, browser):
        for name in sorted(pages.NAMES):
            response = browser.get(f"/docs/{name or 'README'}.md")

            assert (response.status_code, response["Content-Type"]) == (200, "text/markdown; charset=utf-8")
            assert response.content.decode() == pages.text(name, "en")

    def test_leads_to_pages_alone(self, browser):
        for name in sorted(pages.NAMES):
            for target in re.findall(r"\]\(([\w-]+\.md)", pages.text(name, "en")):
                assert browser.get(f"/docs/{target}").status_code == 200, f"{name} leads to {target}"

    @pytest.mark.parametrize("file", ["nothing", "quickstart.md", "..%2F..%2FREADME", "pt-br%2Fquickstart"])
    def test_is_not_found_under_another_name(self, browser, file):
        assert browser.get(f"/docs/{file}.md").status_code == 404


class TestProgram:
    def test_is_each_file_of_the_folder_of_examples(self, browser):
        assert {path.name for path in (pages.FOLDER / "examples").glob("*.*")} == set(pages.PROGRAMS)
        for program, path in pages.PROGRAMS.items():
            response = browser.get(f"/docs/{program}")

            assert (response.status_code, response["Content-Type"]) == (200, "text/plain; charset=utf-8")
            assert response.content == path.read_bytes()

    def test_is_not_found_in_another_language(self, browser):
        assert browser.get("/docs/receive.rb").status_code == 404


class TestListForLanguageModels:
    """The format is that of https://llmstxt.org: a title, a summary, and lists of links below headings."""

    def test_leads_to_every_page_and_to_the_descriptions(self, browser):
        lines = browser.get("/llms.txt").content.decode().splitlines()

        assert (lines[0], lines[2][:2]) == ("# Rota", "> ")
        shapes = r"- \[[^]]+\]\(http://testserver/\S+\)(: .+)?|## .+|"
        assert [line for line in lines[3:] if not re.fullmatch(shapes, line)] == []
        links = [target for line in lines for target in re.findall(r"\]\(http://testserver(\S+)\)", line)]
        files = {f"/docs/{name or 'README'}.md" for name in pages.NAMES}
        assert set(links) == files | {"/api/openapi.json", "/api/postman.json"}
        assert [link for link in links if browser.get(link).status_code != 200] == []


class TestErrorPage:
    def test_has_what_the_code_means_and_a_body(self, browser):
        for code, entry in CODES.items():
            response = browser.get(f"/docs/errors/{code}")

            assert (response.status_code, response.context["entry"]) == (200, entry)
            bodies = [body for _api, body in response.context["bodies"]]
            assert [f'"code": "{code}"' in body for body in bodies] == [True] * len(entry.apis), code

    def test_is_in_the_language_of_the_reader(self, browser):
        browser.cookies[settings.LANGUAGE_COOKIE_NAME] = "pt-br"

        for code, entry in CODES.items():
            text = browser.get(f"/docs/errors/{code}").content.decode()

            with override("pt-br"):
                assert f"<dd>{escape(gettext(entry.meaning))}</dd>" in text, code
                assert f"<dd>{escape(gettext(entry.remedy))}</dd>" in text, code
                assert f"<dd>{escape(gettext(entry.repeat.value))}</dd>" in text, code
            assert f"<dd>{escape(entry.meaning)}</dd>" not in text, code

    def test_is_not_found_for_another_code(self, browser):
        assert browser.get("/docs/errors/nothing").status_code == 404

"""The search of the documentation, in each language, as a page and as the list that appears while one types."""

from urllib.parse import urldefrag

import pytest
from django.conf import settings
from django.test import Client
from lxml.html import document_fromstring

from panel.guide import search
from panel.guide.catalogue import CODES
from tests.cases import in_turn


def urls(query, language="en"):
    return [result.entry.url for result in search.find(query, language)]


def excerpt(query):
    result = search.find(query, "en")[0]
    return f"{result.before}[{result.word}]{result.after}"


class TestFind:
    @in_turn(
        ("query", "language", "first"),
        [
            ("webhooks", "en", "/docs/webhooks"),
            ("idempotency-key", "en", "/docs/retries#idempotency-key"),
            ("IDEMPOTENCY", "pt-br", "/docs/retries#idempotency-key"),
            ("duplicatas", "pt-br", "/docs/webhooks#order-duplicates-retries"),
            ("producao", "pt-br", "/docs/going-live"),
            ("pickup_not_linked", "en", "/docs/errors/pickup_not_linked"),
            ("/api/cancel-delivery", "en", "/docs/reference#/Immediate%20delivery/cancel-delivery"),
            ("vector test", "en", "/docs/webhooks#a-test-vector"),
            ("etiquetas", "en", "/docs/orders#labels"),
            ("labels", "pt-br", "/docs/orders#labels"),
            ("romaneio signatures", "en", "/docs/orders#manifests"),
            ("LEAVE", "en", "/docs/statuses#a-failed-drop-off"),
            ("agendar", "pt-br", "/docs/deliveries#scheduled-deliveries-and-windows"),
            ("logística reversa", "pt-br", "/docs/statuses#what-changes-a-delivery-in-mode-reverse"),
            ("localizar o entregador", "pt-br", "/docs/reference#/Immediate%20delivery/location-delivery"),
        ],
    )
    def test_has_first_what_is_titled_like_the_query(self, query, language, first):
        assert urls(query, language)[0] == first

    def test_finds_every_error_code(self):
        assert [code for code in CODES if f"/docs/errors/{code}" not in urls(code)] == []

    def test_needs_every_word(self):
        assert urls("webhook") != []
        assert urls("webhook xyzzy") == []

    @pytest.mark.parametrize("query", ["", "   ", "\0", "\u0301", "%", "<script>", "\ud800", "a" * 10_000])
    def test_takes_any_text(self, query):
        assert len(urls(query)) <= 20

    def test_reads_a_bounded_part_of_the_query(self):
        assert urls(f"webhooks {' ' * 100} xyzzy") == urls("webhooks")

    def test_counts_a_repeated_word_once(self):
        assert search._words("Webhook a webhook á A WEBHOOK") == ["webhook", "a"]
        assert len(search._words("a " * 5000)) == 1

    def test_titles_in_the_readers_language_what_a_word_of_another_one_finds(self):
        found = search.find("romaneio", "en")[0]

        assert (found.entry.title, found.word) == ("Manifests", "romaneio")

    def test_shows_the_text_around_the_first_word(self):
        assert "[standardwebhooks]" in excerpt("standardwebhooks")
        assert len(excerpt("standardwebhooks")) < 260

    @in_turn("language", ["en", "pt-br"])
    @in_turn(
        "query",
        [
            "SDK", "bulk", "em lote", "billing", "fatura", "cobrança", "reset", "alterar pedido", "corrigir um pedido",
            "correct an order", "firewall", "IP addresses", "endereços IP", "several boxes", "units in one carton",
            "caixas", "volumes", "time zone", "fuso horário", "order_id", "centavos",
        ],
    )  # fmt: skip  # a list of words
    def test_finds_what_integrators_look_for(self, query, language):
        told = {"/docs/#what-is-often-looked-for", "/docs/orders#correct-an-order", "/docs/names"}

        assert told & set(urls(query, language))


class TestFolded:
    @pytest.mark.parametrize("text", ["Início rápido", "AÇÃO", "ﬁ ß İ", "e\u0301", "日本"])
    def test_is_as_long_as_the_text(self, text):
        assert len(search._folded(text)) == len(text)


class TestPage:
    @pytest.fixture
    def browser(self):
        return Client()

    def test_shows_what_was_found_without_scripts(self, browser):
        browser.cookies[settings.LANGUAGE_COOKIE_NAME] = "pt-br"

        root = document_fromstring(browser.get("/docs/search?q=devolução").content)

        assert [box.attrib["value"] for box in root.iter("input") if box.attrib.get("name") == "q"] == ["devolução"]
        (shown,) = [found for found in root.iter("ul") if found.attrib.get("class") == "results"]
        links = [str(link.attrib["href"]) for link in shown.iter("a")]
        assert links == urls("devolução", "pt-br") != []
        assert {browser.get(urldefrag(link)[0]).status_code for link in links} == {200}

    def test_says_that_nothing_was_found(self, browser):
        text = browser.get("/docs/search?q=<xyzzy>").content.decode()

        assert "Nothing has all words of “&lt;xyzzy&gt;”." in text

    def test_is_the_list_alone_for_htmx(self, browser):
        text = browser.get("/docs/search?q=webhook", headers={"HX-Request": "true"}).content.decode()

        assert "<html" not in text
        assert text.count("<li>") == len(urls("webhook"))

    @pytest.mark.parametrize("path", ["/docs/", "/docs/retries", "/docs/reference", "/docs/errors/busy"])
    def test_can_be_asked_from_every_page(self, browser, path):
        root = document_fromstring(browser.get(path).content)

        (form,) = [each for each in root.iter("form") if each.attrib.get("role") == "search"]
        assert (form.attrib["action"], form.attrib.get("method", "get")) == ("/docs/search", "get")

"""The OpenAPI description and the Postman collection: valid, current, complete, and served to everybody."""

import gzip
import json
import re
from datetime import date

import pytest
import yaml
from openapi_spec_validator import validate

from common.api.openapi import DAY, NOT_BLANK
from common.brazil.states import WRITTEN_POSTCODE
from panel.guide import description as translations
from panel.guide import postman, views
from panel.guide.catalogue import CODES, A, B

CANCEL_DELIVERY = ("Cancel a delivery", "POST", "/api/cancel-delivery/:deliveryId")


@pytest.fixture(scope="module")
def description():
    return json.loads(translations.FILE.read_text())


def _enumerations(value):
    """The values of each enumeration that has more than one."""
    if isinstance(value, dict):
        if len(value.get("enum", ())) > 1:
            yield tuple(sorted(str(item) for item in value["enum"] if item is not None))
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _enumerations(inner)


def _differences(value, other, path=()):
    """Where two descriptions differ: the path and both values."""
    if type(value) is not type(other):
        yield path, value, other
    elif isinstance(value, dict):
        assert list(value) == list(other), path
        for key in value:
            yield from _differences(value[key], other[key], (*path, key))
    elif isinstance(value, list):
        assert len(value) == len(other), path
        for inner, translated in zip(value, other, strict=True):
            yield from _differences(inner, translated, path)
    elif value != other:
        yield path, value, other


class TestTheDescription:
    def test_is_valid_openapi(self, description):
        assert description["openapi"] == "3.1.0"
        validate(description)

    @pytest.mark.parametrize("api", [A, B])
    def test_names_every_error_code_of_its_catalogue(self, api, description):
        answers = [
            answer
            for path, methods in description["paths"].items()
            for operation in methods.values()
            for answer in operation["responses"].values()
            if path.startswith("/api/integration/") == (api == B)
        ]

        described = {code for answer in answers for code in re.findall(r"`(\w+)`: ", answer["description"])}

        assert described == {code for code, entry in CODES.items() if api in entry.apis}

    def test_says_what_is_demanded_of_a_request(self, description):
        schemas = description["components"]["schemas"]
        delivery, order = schemas["DeliveryRequest"]["properties"], schemas["SellerOrderRequest"]["properties"]
        parameters = {
            each["name"]: each["schema"] for each in description["paths"]["/api/deliveries"]["get"]["parameters"]
        }

        assert (delivery["dropoffs"]["minItems"], delivery["dropoffs"]["maxItems"]) == (1, 3)
        assert (order["items"]["minItems"], order["items"]["maxItems"]) == (1, 1000)
        assert schemas["ContactsRequest"]["properties"]["name"]["pattern"] == NOT_BLANK
        assert "pattern" not in schemas["OptionalContactsRequest"]["properties"]["name"]
        assert schemas["AddressRequest"]["properties"]["zipcode"]["pattern"] == f"^({WRITTEN_POSTCODE.pattern})?$"
        assert {name for name, schema in parameters.items() if schema.get("minLength") == 1} == {
            "cursor", "externalId", "createdFrom", "createdTo", "updatedFrom",
        }  # fmt: skip  # a set

    def test_has_each_day_that_there_is_and_no_other(self):
        days = [f"{month:02}-{day:02}" for month in range(14) for day in range(33)]
        written = [f"{year:04}-{day}" for year in (0, 1, 2026, 2028) for day in days]
        written += [f"{year:04}-02-{day}" for year in range(10_000) for day in (28, 29)]

        described = {text for text in written if re.fullmatch(DAY, text)}

        assert described == {text for text in written if _is_day(text)}

    def test_leaves_preferences_open(self, description):
        """RFC 7240 lets clients send any, with parameters, and several in one header."""
        [prefer] = [
            each
            for each in description["paths"]["/api/quotation-delivery"]["post"]["parameters"]
            if each["name"] == "Prefer"
        ]

        assert prefer["schema"] == {"type": "string"}

    def test_lists_the_values_of_an_enumeration_once(self, description):
        """Otherwise a generated client has several types for them, and `enumerations` has to name them."""
        lists = list(_enumerations(description))

        assert len(lists) > 5
        assert sorted({values for values in lists if lists.count(values) > 1}) == []

    def test_has_the_webhook(self, description):
        body = description["webhooks"]["delivery"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert body == {"$ref": "#/components/schemas/Event"}


def _is_day(text):
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


class TestThePortugueseDescription:
    def test_has_every_text_in_portuguese(self, description):
        portuguese = translations.translated("pt-br")

        assert translations.texts(portuguese) & translations.texts(description) == {"BRL"}

    def test_differs_in_texts_alone_and_has_all_their_names(self, description):
        differences = list(_differences(description, translations.translated("pt-br")))

        assert {path[-1] for path, _english, _portuguese in differences} == {"description", "summary"}
        assert not [path for path, *_texts in differences if {"example", "examples"} & {*path}]
        for path, english, portuguese in differences:
            for code in (r"`[^`]+`", r"\bRFC \d+\b", r"\b[A-Z]{4,}\b"):
                assert {*re.findall(code, portuguese)} >= {*re.findall(code, english)}, path

    def test_has_tags_that_the_reference_translates(self, description):
        assert {tag["name"] for tag in description["tags"]} <= {*views._WORDS_OF_REFERENCE}


class TestThePostmanCollection:
    def test_has_a_request_for_each_operation(self, description):
        described = {
            (operation["tags"][0], operation["summary"], method.upper(), path.replace("{", ":").replace("}", ""))
            for path, methods in description["paths"].items()
            for method, operation in methods.items()
        }

        collection = postman.collection(description, "")

        requests = [
            (folder["name"], item["name"], item["request"]["method"], "/" + "/".join(item["request"]["url"]["path"]))
            for folder in collection["item"]
            for item in folder["item"]
        ]
        in_order = [folder for folder, *_request in requests]
        assert len(requests) == len(described)
        assert {*requests} - described == {("Cancel", *CANCEL_DELIVERY)}
        assert described - {*requests} == {("Immediate delivery", *CANCEL_DELIVERY)}
        assert in_order.index("Cancel") > in_order.index("Sandbox")
        assert [name for folder, name, *_request in requests if folder == "Order integration"][-1] == "Cancel an order"


class TestTheAddress:
    @pytest.mark.parametrize(
        ("name", "media_type"),
        [
            ("openapi.json", "application/json"),
            ("openapi.yaml", "application/yaml"),
        ],
    )
    def test_answers_without_credentials(self, client, description, name, media_type):
        response = client.get(f"/api/{name}")

        assert response.status_code == 200
        assert response["Content-Type"] == media_type
        assert response["Cache-Control"] == "public, max-age=300"
        assert yaml.load(response.content, Loader=yaml.CSafeLoader) == description
        assert "Content-Encoding" not in response

    @pytest.mark.parametrize(
        ("address", "language"),
        [
            ("openapi.json?lang=pt-br", "pt-br"),
            ("openapi.json?lang=en", "en"),
            ("openapi.json?lang=xx", "en"),
            ("openapi.json", "en"),
            ("openapi.yaml?lang=pt-br", "en"),
            ("postman.json?lang=pt-br", "en"),
        ],
    )
    def test_answers_in_the_language_of_its_query_whatever_that_of_the_reader(self, client, address, language):
        response = client.get(f"/api/{address}", headers={"Accept-Language": "pt-BR"})

        assert response["Content-Language"] == language
        assert ("Cotar uma entrega" in response.content.decode()) == (language == "pt-br")

    def test_has_an_etag_for_each_language(self, client):
        english, portuguese = client.get("/api/openapi.json"), client.get("/api/openapi.json?lang=pt-br")

        again = client.get("/api/openapi.json?lang=pt-br", headers={"If-None-Match": english["ETag"]})

        assert english["ETag"] != portuguese["ETag"] == again["ETag"]
        assert again.json() == translations.translated("pt-br")

    @pytest.mark.parametrize("name", ["openapi.json", "openapi.yaml", "postman.json"])
    def test_answers_compressed_to_whoever_asks_for_it(self, client, name):
        plain = client.get(f"/api/{name}")

        response = client.get(f"/api/{name}", headers={"Accept-Encoding": "br, gzip"})

        assert response["Content-Encoding"] == "gzip"
        assert gzip.decompress(response.content) == plain.content
        assert len(response.content) < len(plain.content) / 5
        assert response["Vary"] == plain["Vary"] == "Accept-Encoding"
        assert response["ETag"] == plain["ETag"]

    @pytest.mark.parametrize("base", ["https://rota.example.com:8443", "http://127.0.0.1:8711"])
    def test_of_the_postman_collection_is_that_of_the_service(self, client, settings, description, base):
        settings.ALLOWED_HOSTS = ["*"]
        scheme, _, host = base.partition("://")

        response = client.get("/api/postman.json", headers={"Host": host}, secure=scheme == "https")

        collection = json.loads(response.content)
        assert response["Content-Type"] == "application/json"
        assert {"key": "baseUrl", "value": base} in collection["variable"]
        assert collection == postman.collection(description, base)

    def test_of_the_postman_collection_has_an_etag_of_its_own(self, client, settings):
        settings.ALLOWED_HOSTS = ["*"]

        tags = {client.get("/api/postman.json", headers={"Host": host})["ETag"] for host in ("a.example", "b.example")}

        assert len(tags) == 2

    @pytest.mark.parametrize("encoding", ["", "gzip"])
    def test_answers_304_to_whoever_has_it(self, client, encoding):
        complete = client.get("/api/openapi.json", headers={"Accept-Encoding": encoding})

        response = client.get(
            "/api/openapi.json", headers={"If-None-Match": complete["ETag"], "Accept-Encoding": encoding}
        )

        assert (response.status_code, response.content) == (304, b"")
        for name in ("Cache-Control", "ETag", "Vary"):
            assert response[name] == complete[name]

    def test_refuses_other_methods(self, client):
        assert client.post("/api/openapi.json").status_code == 405

"""Unknown keys and parameters, doubtful values and the service area."""

import pytest

from delivery.geo import service_area
from tests.cases import in_turn
from tests.delivery.api.calls import (
    EVENTS,
    LIST,
    MISSING,
    QUOTE,
    REQUEST,
    assert_nothing_written,
    assert_problem,
    changed,
)
from tests.factories import DeliveryFactory, payload

STRICT = {"HTTP_PREFER": "handling=strict"}
OF_DELIVERIES = "limit cursor externalId deliveryId status createdFrom createdTo updatedFrom"


@pytest.mark.django_db
class TestUnknownKeys:
    def test_are_accepted_and_named(self, api):
        body = changed("#/dropoffs/1/adress", {}) | {"packages": [], "zzz": 1}

        response = api.post(REQUEST, body)

        assert response.status_code == 201
        assert response["Rota-Warnings"].split(", ") == [
            '"#/dropoffs/1/adress";code=unknown_key;nearest="address"',
            '"#/packages";code=unknown_key;nearest="orderPackages"',
            '"#/zzz";code=unknown_key',
        ]
        assert "Preference-Applied" not in response

    @in_turn(
        ("key", "value", "nearest"),
        [
            ("delivery", {}, ""),
            ("vehicle", [], ""),
            ("vehicle", "CAR", "vehicleType"),
            ("dropoff", {}, "dropoffs"),
            ("quoteId", "x", "header Quote-Id"),
            ("idempotency_key", "x", "header Idempotency-Key"),
        ],
    )
    def test_are_compared_with_keys_that_take_such_a_value_and_with_headers(self, api, key, value, nearest):
        response = api.post(QUOTE, payload(**{key: value}))

        hint = f';nearest="{nearest}"' if nearest else ""
        assert response["Rota-Warnings"] == f'"#/{key}";code=unknown_key{hint}'

    def test_are_named_with_a_refusal_too(self, api):
        body = payload()
        body["dropOffs"] = body.pop("dropoffs")

        response = api.post(REQUEST, body)

        problem = assert_problem(response, 422, "invalid_payload")
        assert [error["pointer"] for error in problem["errors"]] == ["#/dropoffs"]
        assert response["Rota-Warnings"] == '"#/dropOffs";code=unknown_key;nearest="dropoffs"'

    def test_are_refused_from_a_caller_who_prefers_strict_handling(self, api):
        response = api.post(REQUEST, payload(packages=[]), **STRICT)

        problem = assert_problem(response, 422, "unknown_key")
        assert problem["errors"] == [
            {
                "pointer": "#/packages",
                "code": "unknown_key",
                "detail": "This key is unknown and has no effect. Did you mean 'orderPackages'?",
            }
        ]
        assert response["Preference-Applied"] == "handling=strict"
        assert_nothing_written()

    def test_are_refused_together_with_invalid_fields(self, api):
        problem = assert_problem(
            api.post(QUOTE, changed("#/vehicleType", "BIKE") | {"a": 1}, **STRICT), 422, "invalid_payload"
        )

        assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [
            ("#/vehicleType", "invalid_choice"),
            ("#/a", "unknown_key"),
        ]

    def test_are_none_of_those_of_the_specification(self, api):
        response = api.post(REQUEST, payload(), **STRICT)

        assert response.status_code == 201
        assert "Rota-Warnings" not in response
        assert response["Preference-Applied"] == "handling=strict"


@pytest.mark.django_db
class TestADoubtfulValue:
    @in_turn(
        ("pointer", "value", "warning"),
        [
            ("#/pickup/contacts/phoneNumber", "abc", '"#/pickup/contacts/phoneNumber";code=doubtful_phone'),
            ("#/pickup/contacts/phoneNumber", "5.5E+12", '"#/pickup/contacts/phoneNumber";code=doubtful_phone'),
            ("#/pickup/contacts/phoneNumber", "9" * 16, '"#/pickup/contacts/phoneNumber";code=doubtful_phone'),
            ("#/dropoffs/2/contacts/phoneNumber", "12", '"#/dropoffs/2/contacts/phoneNumber";code=doubtful_phone'),
            ("#/orderPackages", [{"quantity": 100}], '"#/orderPackages/0/weight";code=missing_weight'),
            (
                "#/orderPackages",
                [{"weight": 1, "height": 1}, {"weight": 1, "width": 0.99, "length": 40}],
                '"#/orderPackages/1/width";code=doubtful_measure',
            ),
            ("#/dropoffs/1/externalId", "order-1", '"#/dropoffs/1/externalId";code=duplicate_external_id'),
            ("#/pickup/address/street", " ", '"#/pickup/address/street";code=missing_street'),
            ("#/pickup/address/number", MISSING, '"#/pickup/address/number";code=missing_number'),
            ("#/dropoffs/0/address/street", None, '"#/dropoffs/0/address/street";code=missing_street'),
            ("#/dropoffs/2/address/number", "", '"#/dropoffs/2/address/number";code=missing_number'),
            ("#/pickup/address/zipcode", "20040-020", '"#/pickup/address/zipcode";code=postcode_of_another_state'),
            (
                "#/dropoffs/1/address/zipcode",
                "20040020",
                '"#/dropoffs/1/address/zipcode";code=postcode_of_another_state',
            ),
            # 1 km east of the address' coordinates.
            (
                "#/dropoffs/0/coordinates",
                {"latitude": -23.552, "longitude": -46.64},
                '"#/dropoffs/0/coordinates";code=different_coordinates',
            ),
        ],
    )
    def test_is_accepted_and_named_or_refused_strictly(self, api, pointer, value, warning):
        body = changed(pointer, value)

        assert api.post(QUOTE, body)["Rota-Warnings"] == warning
        problem = assert_problem(api.post(QUOTE, body, **STRICT), 422, "invalid_payload")
        assert problem["errors"][0]["pointer"] in warning

    @in_turn(
        ("pointer", "value", "warning"),
        [
            ("#/dropoffs/1/externalId", "", '"#/dropoffs/1/externalId";code=missing_external_id'),
            ("#/dropoffs/1/externalId", " ", '"#/dropoffs/1/externalId";code=missing_external_id'),
            ("#/dropoffs/0/externalId", MISSING, '"#/dropoffs/0/externalId";code=missing_external_id'),
            ("#/dropoffs/0/contacts", None, '"#/dropoffs/0/contacts";code=missing_contact'),
            ("#/dropoffs/2/contacts", {"email": "a@example.com"}, '"#/dropoffs/2/contacts";code=missing_contact'),
        ],
    )
    def test_is_what_a_request_lacks_and_a_quote_need_not_have(self, api, pointer, value, warning):
        body = changed(pointer, value)

        assert "Rota-Warnings" not in api.post(QUOTE, body, **STRICT)
        problem = assert_problem(api.post(REQUEST, body, **STRICT), 422, "invalid_payload")
        assert problem["errors"][0]["pointer"] in warning
        assert_nothing_written()
        response = api.post(REQUEST, body)
        assert (response.status_code, response["Rota-Warnings"]) == (201, warning)

    @pytest.mark.parametrize("contacts", [{"name": "Maria"}, {"phoneNumber": "11977770001"}])
    def test_is_no_contact_with_a_name_or_a_number(self, api, contacts):
        response = api.post(REQUEST, changed("#/dropoffs/0/contacts", contacts), **STRICT)

        assert response.status_code == 201

    def test_is_a_quoted_pickup_that_a_request_is_refused_for(self, api):
        body = changed("#/pickup/address/latitude", -23.6)

        response = api.post(QUOTE, body)

        assert (response.status_code, response["Pickup-Linked"]) == (200, "false")
        assert response["Rota-Warnings"] == '"#/pickup/address";code=pickup_not_linked'
        problem = assert_problem(api.post(QUOTE, body, **STRICT), 422, "invalid_payload")
        assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [
            ("#/pickup/address", "pickup_not_linked")
        ]

    @in_turn(
        ("changes", "warned"),
        [
            # Rio's postcode and state, with coordinates in São Paulo.
            ({"state": "RJ", "zipcode": "20040-020"}, ["address"]),
            ({"state": "rio de janeiro", "zipcode": ""}, ["address"]),
            ({"state": "", "zipcode": "20040-020"}, ["address"]),
            ({"state": "RJ"}, ["address/zipcode", "address"]),
            ({"zipcode": "99990-000", "state": "Far away"}, ["address"]),
            ({"state": "Far away"}, []),
            ({"state": "", "zipcode": ""}, []),
            ({"state": "sao paulo", "zipcode": "78900-000"}, []),  # no region has this postcode
        ],
    )
    def test_is_an_address_in_two_states(self, api, changes, warned):
        body = payload(stops=1)
        body["dropoffs"][0]["address"] |= changes

        response = api.post(QUOTE, body)

        assert response.get("Rota-Warnings", "") == ", ".join(
            f'"#/dropoffs/0/{pointer}";code=postcode_of_another_state' for pointer in warned
        )

    def test_is_the_place_that_counts(self, api):
        body = payload(stops=1)
        body["dropoffs"][0]["coordinates"] = {"latitude": -22.91, "longitude": -43.17}

        response = api.post(QUOTE, body)

        assert response["Rota-Warnings"].split(", ") == [
            '"#/dropoffs/0/coordinates";code=postcode_of_another_state',
            '"#/dropoffs/0/coordinates";code=different_coordinates',
        ]

    @pytest.mark.parametrize("latitude", [-23.552, "-23.55195", None])
    def test_is_no_place_that_differs_by_its_rounding(self, api, latitude):
        body = changed("#/dropoffs/0/coordinates", {"latitude": latitude, "longitude": -46.65})

        assert "Rota-Warnings" not in api.post(QUOTE, body)

    def test_is_no_externalid_of_two_drop_offs_without_one(self, api):
        body = payload()
        for dropoff in body["dropoffs"]:
            dropoff["externalId"] = ""

        assert "Rota-Warnings" not in api.post(QUOTE, body)

    @pytest.mark.parametrize("phone", ["3333-0000", "+55 (11) 97777-0001", ""])
    def test_is_no_telephone_number_of_eight_digits_or_more(self, api, phone):
        assert "Rota-Warnings" not in api.post(QUOTE, changed("#/dropoffs/0/contacts/phoneNumber", phone))


@pytest.mark.django_db
class TestTheServiceArea:
    @pytest.mark.parametrize("path", [QUOTE, REQUEST])
    @pytest.mark.parametrize("place", ["#/pickup/address", "#/dropoffs/1/address"])
    def test_swapped_coordinates_are_recognised(self, api, path, place):
        body = payload()
        spot = body["pickup"]["address"] if "pickup" in place else body["dropoffs"][1]["address"]
        spot |= {"latitude": -46.65, "longitude": -23.56}
        body["dropoffs"][0]["address"] |= {"latitude": 40.7, "longitude": -74.0}  # outside, and not said yet

        problem = assert_problem(api.post(path, body), 422, "swapped_coordinates")

        assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [(place, "swapped_coordinates")]
        assert "(-46.65, -23.56) is outside" in problem["errors"][0]["detail"]
        assert "seem to be swapped" in problem["errors"][0]["detail"]
        assert_nothing_written()

    def test_swapped_coordinates_are_named_where_they_are_given(self, api):
        body = changed("#/dropoffs/0/coordinates", {"latitude": -46.65, "longitude": -23.56})

        problem = assert_problem(api.post(QUOTE, body), 422, "swapped_coordinates")

        assert problem["errors"][0]["pointer"] == "#/dropoffs/0/coordinates"

    @pytest.mark.parametrize("path", [QUOTE, REQUEST])
    @pytest.mark.parametrize("place", ["pickup", "dropoffs[1]"])
    def test_there_is_no_price_outside(self, api, path, place):
        body = payload()
        spot = body["pickup"]["address"] if place == "pickup" else body["dropoffs"][1]["address"]
        spot |= {"latitude": 40.7, "longitude": -74.0}

        problem = assert_problem(api.post(path, body), 400, "outside_service_area")

        assert problem["detail"] == f"This is outside the area that this service serves: {place} (40.7, -74.0)."
        assert problem.keys() == {"type", "title", "status", "detail", "instance", "code", "retryable"}
        assert problem["retryable"] is False
        assert_nothing_written()

    def test_all_points_outside_are_named(self, api):
        body = payload()
        for number, place in enumerate((body["pickup"], *body["dropoffs"])):
            place["address"] |= {"latitude": 40 + number, "longitude": -74.0}

        problem = assert_problem(api.post(QUOTE, body), 400, "outside_service_area")

        assert problem["detail"].endswith(
            ": pickup (40.0, -74.0), dropoffs[0] (41.0, -74.0), dropoffs[1] (42.0, -74.0), dropoffs[2] (43.0, -74.0)."
        )

    def test_fields_that_are_invalid_come_first(self, api):
        body = payload(vehicleType="TRUCK")
        body["pickup"]["address"] |= {"latitude": 40.7, "longitude": -74.0}

        assert_problem(api.post(REQUEST, body), 422, "invalid_payload")

    def test_is_a_setting(self, api, settings):
        settings.SERVICE_AREA = service_area.parse("-24,-47,-23,-46; 40,-75,41,-73")
        assert api.post(QUOTE, payload()).status_code == 200

        settings.SERVICE_AREA = service_area.parse("40,-75,41,-73")
        assert_problem(api.post(QUOTE, payload()), 400, "outside_service_area")


@pytest.mark.django_db
class TestAnUnknownParameter:
    @in_turn(
        ("path", "warning"),
        [
            (f"{EVENTS}?cursor=x", '"?cursor";code=unknown_key;known="limit after deliveryId from"'),
            (f"{LIST}?Status=FAILED", f'"?Status";code=unknown_key;nearest="status";known="{OF_DELIVERIES}"'),
            (f"{LIST}?external_id=1", f'"?external_id";code=unknown_key;nearest="externalId";known="{OF_DELIVERIES}"'),
            (f"{LIST}?%22a%0D%0Aé=1", f'"?%22a%0D%0A%C3%A9";code=unknown_key;known="{OF_DELIVERIES}"'),
            (f"{LIST}?limit=1", None),
        ],
    )
    def test_has_no_effect_and_is_named(self, api, token, path, warning):
        DeliveryFactory.create(token=token)

        response = api.get(path)

        assert len(response.json()["data"]) == 1
        assert response.get("Rota-Warnings") == warning

    def test_is_refused_from_a_caller_who_prefers_strict_handling(self, api):
        response = api.get(f"{LIST}?Status=FAILED", **STRICT)

        problem = assert_problem(response, 422, "unknown_key")
        assert problem["errors"] == [
            {
                "parameter": "Status",
                "code": "unknown_key",
                "detail": "This parameter is unknown and has no effect. Did you mean 'status'? Known ones: "
                "limit, cursor, externalId, deliveryId, status, createdFrom, createdTo, updatedFrom.",
            }
        ]
        assert response["Preference-Applied"] == "handling=strict"

    def test_is_refused_together_with_an_invalid_one(self, api):
        problem = assert_problem(api.get(f"{EVENTS}?cursor=x&limit=0", **STRICT), 422, "invalid_query")

        assert [(error["parameter"], error["code"]) for error in problem["errors"]] == [
            ("limit", "invalid_limit"),
            ("cursor", "unknown_key"),
        ]

    def test_is_named_with_the_refusal_of_an_invalid_one(self, api):
        response = api.get(f"{EVENTS}?cursor=x&limit=0")

        assert_problem(response, 422, "invalid_query")
        assert response["Rota-Warnings"] == '"?cursor";code=unknown_key;known="limit after deliveryId from"'

    def test_is_one_of_the_first_twenty_that_are_named(self, api):
        response = api.get(f"{LIST}?{'&'.join(f'key{number}=1' for number in range(500))}")

        assert response["Rota-Warnings"].count("unknown_key") == 20

"""Every error code of both APIs is in the catalogue, with its status, and no other."""

import ast
import re
from pathlib import Path

import pytest
from django.conf import settings

from common.errors import DomainError
from config.server import limits
from delivery import errors as delivery_errors
from delivery.api.problems import CODES_OF_PROBLEMS
from integration import errors as integration_errors
from panel.guide import catalogue, examples
from panel.guide.catalogue import CODES, A, B

# Errors that only the panel, the admin, the driver's moves and commands meet. No call of an API is answered with them.
OF_PEOPLE = {
    A: {
        "token_ended", "too_many_tokens", "invalid_reason", "no_eligible_driver", "driver_not_found",
        "driver_not_eligible", "driver_has_open_route", "invalid_position", "endpoint_cannot_send",
        "secret_rotated_lately", "too_many_endpoints", "endpoint_stays", "invalid_failure_code", "fee_changed",
        "form_in_progress", "form_sent_already", "too_many_pickup_points", "point_changed", "attempt_recorded",
        # Of phones.
        "log_in_link_unusable", "not_on_duty", "other_phone_sends", "not_your_route", "route_still_open",
        "photos_busy", "photo_too_large", "invalid_photo", "too_many_photos", "photo_too_late",
        "photo_required", "goods_in_hand",
        # Of connected shops, and of files of addresses.
        "too_many_connections", "invalid_secret", "draft_ended", "draft_changed", "draft_incomplete",
        "draft_price_changed",
        "wrong_address_file",
    },
    B: {
        "too_many_keys", "move_refused", "seller_not_found", "company_taken", "carrier_not_found", "freight_changed",
        "corrected_meanwhile",
        # Of connected shops.
        "too_many_connections", "invalid_secret", "draft_ended", "draft_changed", "draft_incomplete",
    },
}  # fmt: skip  # a table
MODULES = {A: [delivery_errors], B: [integration_errors]}
FILES = {A: "delivery/api/problems.py", B: "integration/api/problems.py"}
# The status in one of the two APIs differs from that of the catalogue, whose text says so.
OTHER_STATUS = {("unsupported_media_type", B): 422}


def codes_of_classes(api):
    kinds = [kind for module in MODULES[api] for kind in vars(module).values() if isinstance(kind, type)]
    return {kind.code for kind in kinds if issubclass(kind, DomainError) and hasattr(kind, "code")}


def codes_in_calls(api):
    """Constants in the module that makes the bodies, handed as `code` or as the code's position to what makes one."""
    tree = ast.parse(Path(settings.BASE_DIR / FILES[api]).read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    position = {"_answer": 2, "_invalid": 2, "refusal": 1}
    for call in calls:
        name = getattr(call.func, "id", "")
        values = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
        values += call.args[position[name] : position[name] + 1] if name in position else []
        yield from (value.value for value in values if isinstance(value, ast.Constant))


def codes_of(api):
    return {entry.code for entry in CODES.values() if api in entry.apis}


@pytest.mark.parametrize("api", [A, B])
class TestCatalogue:
    def test_has_every_class_of_error_that_a_call_can_meet(self, api):
        assert codes_of_classes(api) - OF_PEOPLE[api] <= codes_of(api)
        assert not OF_PEOPLE[api] & codes_of(api) - {"move_refused"}

    def test_has_every_code_in_the_module_that_makes_the_bodies(self, api):
        found = set(codes_in_calls(api))

        assert {"no_such_path", "server_error", "invalid_payload"} <= found
        assert found <= codes_of(api)

    def test_has_the_code_and_status_of_every_answer_and_no_other(self, api):
        answers = examples.answers_of(api)

        assert set(answers) == codes_of(api)
        assert {code: answer.status for code, answer in answers.items()} == {
            code: OTHER_STATUS.get((code, api), CODES[code].status) for code in codes_of(api)
        }


class TestEntries:
    def test_are_unique(self):
        codes = [entry.code for entry in catalogue._ALL]

        assert sorted(codes) == sorted(CODES)

    def test_have_the_codes_of_problems_that_entries_of_fields_decide(self):
        assert set(CODES) >= CODES_OF_PROBLEMS

    def test_have_the_status_of_the_limits_of_a_request(self):
        made = [limits._URL, limits._header("X")]

        assert {limit.code: limit.status for limit in made} == {
            code: CODES[code].status for code in ("url_too_long", "header_too_long")
        }

    def test_are_sentences(self):
        for entry in CODES.values():
            assert re.fullmatch(r"[a-z]+(_[a-z]+)*", entry.code)
            assert (entry.meaning[-1], entry.remedy[-1]) == (".", "."), entry.code

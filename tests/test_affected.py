"""`make test-affected` finds the tests nearest to a change."""

from tests.affected import affected, nearest


def test_of_a_module_are_those_that_import_it_or_have_its_name():
    found = affected({"common/webhooks/retry.py"})

    assert found >= {"tests/common/webhooks/test_retry.py", "tests/config/test_moments.py"}
    assert "tests/integration/invoices/test_nfe.py" not in found


def test_of_a_module_that_few_name_are_those_of_the_pages_and_calls_that_use_it():
    found = nearest("integration/papers/manifest_pdf.py")

    assert found[0] == "tests/integration/papers/test_labels.py"
    assert {"tests/panel/sellers/test_manifests.py", "tests/integration/manifests/test_api.py"} <= {*found}


def test_of_a_module_that_tests_import_are_those_of_the_calls_and_pages_that_use_it_too():
    assert "tests/delivery/api/test_deliveries_list.py" in nearest("delivery/bodies.py")
    assert "tests/delivery/api/test_located_addresses.py" in nearest("delivery/places/addresses.py")[:8]


def test_of_a_template_are_those_of_the_page_that_includes_it():
    assert "tests/panel/dispatch/test_board.py" in affected({"templates/panel/board_move.html"})


def test_are_none_of_those_that_kill_servers():
    assert not [path for path in affected({"config/server/heavy_calls.py"}) if path.startswith("tests/faults/")]


def test_of_a_test_is_itself():
    assert affected({"tests/test_affected.py"}) == {"tests/test_affected.py"}


def test_of_a_document_are_those_of_documents():
    assert affected({"docs/runbook.md"}) == {"tests/test_documents.py", "tests/panel/guide"}


def test_of_what_all_tests_share_are_all():
    assert affected({"docs/runbook.md", "tests/conftest.py"}) == {"tests"}

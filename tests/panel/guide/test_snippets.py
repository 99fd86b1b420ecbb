"""The guide's snippets, run as a reader runs them: one shell and one folder for each page, against a real server.

Answers have the keys that the guide shows, and no refusal but those it announces.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dev.demo import data
from tests.integration.factories import load_tariff
from tests.panel.guide import snippets

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]

# Its answer is a refusal with this code.
REFUSED = {"strict-handling": "unknown_key"}
# Their answers do not depend on the time and on ids: the guide shows them as they are.
CONSTANT = {"quote-delivery", "quote-freight", "quote-services", "cancel-order", "send-invoice"}
# The guide shows one key of the answer, and only after the goods were collected.
PARTIAL = {"cancel-delivery"}
# Programs that receive, which tests of their own run, and the call that tells them the signing secret; clients, which
# tests/contract makes and runs.
OTHERS = {
    "set-webhook", "start-receiver", "set-order-webhook", "start-order-receiver", "receive-once", "verify-with-library",
    "run-shop", "run-erp-day",
    *(each.name for each in snippets.of_page("clients") if each.name.startswith(("generate-", "use-"))),
}  # fmt: skip  # a list of names
_SECONDS = 60


@pytest.fixture
def environment(live_server, tmp_path):
    """What the reader has put into the shell, with the accounts and tariffs of `make run`."""
    load_tariff()  # as the migrations do; other tests with real transactions have deleted it
    made = data.seed()
    assert made is not None
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "BASE_URL": live_server.url,
        "TOKEN": made["sandbox_token"],
        "API_KEY": made["sandbox_api_key"],
        "WEBHOOK_SECRET": made["sandbox_signing_secret"],
    }


def run_shell(blocks: list[snippets.Snippet], environment: dict[str, str], folder: Path) -> dict[str, str]:
    """What each block prints."""
    script = "\n".join(f"echo '@@{block.name}'\n{block.code}\necho" for block in blocks)
    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", script],
        env=environment, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    parts = (part.partition("\n") for part in done.stdout.split("@@")[1:])
    return {name: output for name, _, output in parts}


def in_file(block: snippets.Snippet, folder: Path) -> str:
    """The answer that the block has curl write to a file instead of printing it."""
    written = re.search(r"curl -s -o (\S+)", block.code)
    return (folder / written[1]).read_text() if written else ""


def documents(output: str) -> Iterator[Any]:
    """The JSON objects in what curl printed, whatever stands between them."""
    decoder, at = json.JSONDecoder(), output.find("{")
    while at >= 0:
        value, end = decoder.raw_decode(output, at)
        yield value
        at = output.find("{", end)


def differences(shown: Any, given: Any, place: str = "") -> list[str]:
    """Where the keys differ. Nothing is compared below null, of lists the first."""
    if isinstance(shown, dict) and isinstance(given, dict):
        keys = shown.keys() ^ given.keys()
        own = [f"{place}: {sorted(keys)}"] if keys else []
        common = shown.keys() & given.keys()
        deeper = (differences(shown[key], given[key], f"{place}/{key}") for key in common)
        return own + [found for each in deeper for found in each]
    if isinstance(shown, list) and isinstance(given, list):
        return differences(shown[0], given[0], f"{place}/0") if shown and given else []
    is_same_kind = shown is None or given is None or isinstance(shown, dict | list) == isinstance(given, dict | list)
    return [] if is_same_kind else [f"{place}: {given!r}"]


class TestShell:
    @pytest.mark.parametrize("page", sorted({snippet.page for snippet in snippets.all_named()}))
    def test_each_answer_is_what_the_guide_shows(self, page, environment, tmp_path):
        blocks = [each for each in snippets.of_page(page) if each.language == "bash" and each.name not in OTHERS]

        outputs = run_shell(blocks, environment, tmp_path)

        assert list(outputs) == [block.name for block in blocks]
        for block in blocks:
            answers = list(documents(outputs[block.name] + in_file(block, tmp_path)))
            assert [answer.get("code") for answer in answers if "code" in answer] == [
                code for name, code in REFUSED.items() if name == block.name
            ], outputs[block.name]
            if block.answer is not None and block.name not in PARTIAL:
                assert differences(block.answer, answers[0]) == [], block.name
            if block.name in CONSTANT:
                assert answers == [block.answer]


def test_each_snippet_is_run_by_a_test():
    named = snippets.all_named()

    assert [str(each) for each in named if each.name not in OTHERS and each.language != "bash"] == []

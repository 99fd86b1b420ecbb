"""The alert rules and the dashboard of deploy/monitoring: valid, tested, and about metrics that there are."""

import json
import re
import subprocess

import pytest
import yaml

from common.observability import metrics
from config.env import BASE_DIR
from config.monitoring import exposition, servers
from tests.cases import in_turn

FOLDER = BASE_DIR / "deploy" / "monitoring"
RULES = yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"][0]["rules"]
TESTS = yaml.safe_load((FOLDER / "alerts_test.yml").read_text())["tests"]
PANELS = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
EXPRESSIONS = {
    **{rule["alert"]: rule["expr"] for rule in RULES},
    **{f"{panel['title']} {target['refId']}": target["expr"] for panel in PANELS for target in panel["targets"]},
}
# A metric and the labels in braces after it, if there are any.
_SELECTOR = re.compile(r"\b(rota_[a-z_]+)(?:\{([^}]*)\})?")


def family_of(name):
    return re.sub(r"_(total|bucket|count|sum)$", "", name)


@pytest.fixture(scope="module")
def known():
    """The labels of each sample that the service can show."""
    labels = {"rota_check_ok": {"check"}, "rota_heartbeat_age_seconds": {"process"}}
    labels |= {name: set(names) for name, (_text, names) in (exposition.FAMILIES | servers.FAMILIES).items()}
    for metric in metrics.REGISTRY._collector_to_names:
        names = set(metric._labelnames)  # type: ignore[attr-defined]
        for suffix, more in (("_total", set()), ("_bucket", {"le"}), ("_count", set()), ("_sum", set())):
            is_counter = metric._type == "counter"  # type: ignore[attr-defined]
            if is_counter == (suffix == "_total"):
                labels[metric._name + suffix] = names | more  # type: ignore[attr-defined]
    return labels


@in_turn("name", EXPRESSIONS)
def test_names_metrics_and_labels_that_the_service_shows(known, name):
    used = _SELECTOR.findall(EXPRESSIONS[name])

    assert used or "up{" in EXPRESSIONS[name]
    for metric, matchers in used:
        assert metric in known
        assert set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers)) <= known[metric]


def test_every_metric_is_shown_on_the_dashboard_or_watched(known):
    shown = {family_of(metric) for text in EXPRESSIONS.values() for metric, _labels in _SELECTOR.findall(text)}

    assert {family_of(name) for name in known} - shown == set()


@in_turn("name", [rule["alert"] for rule in RULES])
def test_every_rule_is_tested_with_input_at_which_it_fires_and_does_not(name):
    cases = [case for test in TESTS for case in test["alert_rule_test"] if case["alertname"] == name]

    assert {bool(case["exp_alerts"]) for case in cases} == {True, False}


@pytest.mark.parametrize("arguments", [("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")])
def test_promtool_accepts_the_rules(program, arguments):
    result = subprocess.run(
        [program("promtool"), *arguments], cwd=FOLDER, capture_output=True, text=True, check=False, timeout=50
    )

    assert result.returncode == 0, result.stdout + result.stderr


def test_promtool_accepts_the_scrape_configuration(program, tmp_path):
    text = (FOLDER / "prometheus.yml").read_text()
    token = tmp_path / "token"
    token.write_text("x")
    (tmp_path / "prometheus.yml").write_text(text.replace("/etc/prometheus/rota_metrics_token", str(token)))
    (tmp_path / "alerts.yml").write_text((FOLDER / "alerts.yml").read_text())

    result = subprocess.run(
        [program("promtool"), "check", "config", "prometheus.yml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )

    assert result.returncode == 0, result.stdout + result.stderr


def test_the_exposition_is_what_promtool_expects(program, client, db, metrics_token):
    text = client.get("/metrics", headers={"Authorization": f"Bearer {metrics_token}"}).content

    result = subprocess.run(
        [program("promtool"), "check", "metrics"], input=text, capture_output=True, check=False, timeout=50
    )

    # 3: remarks of style only, such as that a counter of e-mails has no unit.
    assert result.returncode in (0, 3), result.stderr.decode()


def test_every_alert_is_explained_in_the_documentation():
    text = (BASE_DIR / "docs" / "monitoring.md").read_text()

    assert [rule["alert"] for rule in RULES if f"`{rule['alert']}`" not in text] == []

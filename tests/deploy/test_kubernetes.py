"""The manifests of deploy/kubernetes/, by the schemas of Kubernetes and by what they say of each other."""

import kubernetes_validate
import pytest
import yaml

from config.env import BASE_DIR
from config.environment import VARIABLES
from config.processes import commands
from tests.cases import in_turn

FOLDER = BASE_DIR / "deploy" / "kubernetes"
KUSTOMIZATION = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
OBJECTS = [
    document for name in KUSTOMIZATION["resources"] for document in yaml.safe_load_all((FOLDER / name).read_text())
]
PODS = {
    f"{item['kind']} {item['metadata']['name']}": item["spec"]["template"]["spec"]
    for item in OBJECTS
    if item["kind"] in {"Deployment", "Job"}
}
LABELS = [item["spec"]["template"]["metadata"]["labels"] for item in OBJECTS if "template" in item.get("spec", {})]
_OLDEST, _NEWEST = "1.30", "1.37"


def of_kind(*kinds):
    return [item for item in OBJECTS if item["kind"] in kinds]


def selectors(value):
    """Every selector of pods within an object, but those of all pods."""
    if isinstance(value, list):
        return [found for each in value for found in selectors(each)]
    if not isinstance(value, dict):
        return []
    own = [value["matchLabels"]] if "matchLabels" in value else []
    return own + [
        found
        for key, each in value.items()
        if key not in {"matchLabels", "namespaceSelector"}
        for found in selectors(each)
    ]


@in_turn("version", [_OLDEST, _NEWEST])
@in_turn("item", OBJECTS)
def test_fits_the_schema(item, version):
    kubernetes_validate.validate(item, version, strict=True)


def test_every_file_is_applied():
    assert {path.name for path in FOLDER.glob("*.yaml")} == {"kustomization.yaml", *KUSTOMIZATION["resources"]}


def test_every_selector_is_of_the_pods_that_it_means():
    for item in of_kind("Deployment"):
        assert item["spec"]["selector"]["matchLabels"] == item["spec"]["template"]["metadata"]["labels"]
    (service,) = of_kind("Service")
    found = [service["spec"]["selector"], *selectors(OBJECTS)]

    assert len(found) == 7
    assert [selector for selector in found if selector not in LABELS] == []


def test_requests_come_from_the_ingress_to_the_port_of_the_image():
    (service,), (ingress,) = of_kind("Service"), of_kind("Ingress")
    (port,) = service["spec"]["ports"]
    (rule,) = ingress["spec"]["rules"]
    backend = rule["http"]["paths"][0]["backend"]["service"]
    (settings,) = of_kind("ConfigMap")
    (served,) = PODS["Deployment web"]["containers"][0]["ports"]
    allowed = [
        each["port"]
        for item in of_kind("NetworkPolicy")
        for way in item["spec"].get("ingress", [])
        for each in way["ports"]
    ]

    assert (backend["name"], backend["port"]["name"]) == (service["metadata"]["name"], port["name"])
    assert [port["targetPort"], *allowed] == [served["name"]] * 2
    assert f"PORT={served['containerPort']}\n" in (BASE_DIR / "Dockerfile").read_text()
    assert [settings["data"]["ALLOWED_HOSTS"]] == ingress["spec"]["tls"][0]["hosts"] == [rule["host"]]
    assert settings["data"].keys() <= {*VARIABLES}


def test_every_process_is_started():
    started = [pod["containers"][0].get("args", ["python", "-m", "config.processes", "web"]) for pod in PODS.values()]

    for name in commands(8000):
        assert ["python", "-m", "config.processes", name] in started


@pytest.mark.parametrize("pod", PODS.values(), ids=PODS)
class TestPod:
    def test_has_no_rights(self, pod):
        (container,) = pod["containers"]

        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }

    def test_has_what_it_names(self, pod):
        """The settings, of a ConfigMap and the Secret that docs/deployment.md has made, the volume and the image."""
        (container,) = pod["containers"]
        (settings,), (volume,) = of_kind("ConfigMap"), of_kind("PersistentVolumeClaim")
        secret = "rota"  # pragma: allowlist secret

        assert f"create secret generic {secret} " in (BASE_DIR / "docs" / "deployment.md").read_text()
        assert container["envFrom"] == [
            {"configMapRef": {"name": settings["metadata"]["name"]}}, {"secretRef": {"name": secret}}
        ]  # fmt: skip  # two rows
        assert pod["volumes"][0]["persistentVolumeClaim"]["claimName"] == volume["metadata"]["name"]
        assert container["image"] in [each["name"] for each in KUSTOMIZATION["images"]]

    def test_examines_itself_by_a_file_of_the_image(self, pod):
        for name, probe in pod["containers"][0].items():
            if name.endswith("Probe"):
                assert f"!{probe['exec']['command'][1]}" in (BASE_DIR / ".dockerignore").read_text().splitlines()

    def test_has_limits_and_mounts_what_it_writes_to(self, pod):
        (container,) = pod["containers"]

        assert container["resources"]["limits"]["memory"]
        assert [mount["mountPath"] for mount in container["volumeMounts"]] == ["/var/lib/rota", "/tmp"]  # noqa: S108
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}


def test_the_image_runs_as_the_user_of_the_pods():
    text = (BASE_DIR / "Dockerfile").read_text()

    for pod in PODS.values():
        user = pod["securityContext"]
        assert f"USER {user['runAsUser']}:{user['runAsGroup']}\n" in text

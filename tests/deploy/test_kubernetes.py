"""The manifests of deploy/kubernetes/, by the schemas of Kubernetes."""

import kubernetes_validate
import pytest
import yaml

from config.env import BASE_DIR
from config.processes import commands

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
_OLDEST, _NEWEST = "1.30", "1.37"


@pytest.mark.parametrize("version", [_OLDEST, _NEWEST])
@pytest.mark.parametrize("item", OBJECTS, ids=lambda item: f"{item['kind']}-{item['metadata']['name']}")
def test_fits_the_schema(item, version):
    kubernetes_validate.validate(item, version, strict=True)


def test_every_file_is_applied():
    assert {path.name for path in FOLDER.glob("*.yaml")} == {"kustomization.yaml", *KUSTOMIZATION["resources"]}


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

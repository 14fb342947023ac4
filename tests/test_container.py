"""The container of the server: what its files name exists, and nothing runs as root or writes elsewhere."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from headway.ext.server.server_settings import ServerConfig

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
# A line that ends in a backslash goes on.
LINES = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.M)).splitlines()
STAGES = {
    name: [line for line in text.splitlines() if line]
    for name, text in re.findall(
        r"^FROM \S+ AS (\w+)\n(.*?)(?=^FROM|\Z)", "\n".join(LINES), re.M | re.S
    )
}
USER = "10001"


def values_of(instruction):
    prefix = instruction + " "
    return [line.removeprefix(prefix) for line in LINES if line.startswith(prefix)]


def read_yaml(name):
    yaml = pytest.importorskip("yaml")
    return list(yaml.safe_load_all((ROOT / "deploy" / name).read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def service():
    [compose] = read_yaml("compose.yaml")
    return compose["services"]["headway"]


@pytest.fixture(scope="module")
def kubernetes():
    """The objects of the manifest by their kind."""
    return {each["kind"]: each for each in read_yaml("kubernetes.yaml")}


@pytest.fixture(scope="module")
def pod(kubernetes):
    return kubernetes["Deployment"]["spec"]["template"]["spec"]


def test_the_image_is_built_of_existing_files():
    ignored = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    copied = {line[1:] for line in ignored if line.startswith("!")}
    assert copied == {"pyproject.toml", "setup.py", "README.md", "LICENSE", "src"}
    assert all((ROOT / name).exists() for name in copied)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extras in re.findall(r"\.whl\)\[(.*?)\]", DOCKERFILE):
        assert set(extras.split(",")) <= project["optional-dependencies"].keys()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [torch] = {*re.findall(r"TORCH=(\S+)", DOCKERFILE)}
    assert f"TORCH ?= {torch}" in makefile


def test_the_server_runs_as_a_user_and_is_watched():
    for name in ("cuda", "cpu"):
        assert STAGES[name][-2] == f"USER {USER}"  # after all that needs root
    assert f"useradd --uid {USER}" in DOCKERFILE
    assert 'ENTRYPOINT ["headway", "serve"]' in LINES
    assert "EXPOSE 5000" in LINES
    [environment] = values_of("ENV")
    assert {"LT_HOST=0.0.0.0", "LT_PORT=5000"} <= set(environment.split())
    [check] = values_of("HEALTHCHECK")
    command = json.loads(check.partition("CMD ")[2])
    assert "127.0.0.1:5000/health" in command[-1]
    compile(command[-1], "health check", "exec")


def test_the_service_writes_only_to_its_volumes(service):
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["build"]["target"] in STAGES
    assert (
        ROOT / "deploy" / service["build"]["context"] / service["build"]["dockerfile"]
    ).is_file()
    [declared] = values_of("VOLUME")
    mounted = [volume.split(":")[-1] for volume in service["volumes"] if not volume.endswith("ro")]
    assert mounted == json.loads(declared)
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_the_pod_has_no_rights_and_writes_only_to_its_volumes(pod):
    [container] = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert str(pod["securityContext"]["runAsUser"]) == USER
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False
    volumes = {volume["name"] for volume in pod["volumes"]}
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    assert {mount["name"] for mount in mounts.values()} == volumes
    [declared] = values_of("VOLUME")
    written = {path for path, mount in mounts.items() if not mount.get("readOnly")}
    assert written == {*json.loads(declared), "/tmp"}
    [model] = container["args"]
    assert mounts[str(Path(model).parent)]["readOnly"]


def test_the_probes_and_the_service_find_the_server(pod, kubernetes):
    recorded = (ROOT / "tests" / "golden" / "interface" / "http.txt").read_text(encoding="utf-8")
    [container] = pod["containers"]
    [port] = container["ports"]
    assert f"EXPOSE {port['containerPort']}" in LINES
    for name in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container[name]["httpGet"]
        assert f"GET {asked['path']}" in recorded.splitlines()
        assert asked["port"] == port["name"]
    spec = kubernetes["Deployment"]["spec"]
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    assert kubernetes["Service"]["spec"]["selector"] == spec["selector"]["matchLabels"]
    assert kubernetes["Service"]["spec"]["ports"][0]["targetPort"] == port["name"]
    claims = {
        v["persistentVolumeClaim"]["claimName"]
        for v in pod["volumes"]
        if "persistentVolumeClaim" in v
    }
    claim = kubernetes["PersistentVolumeClaim"]
    assert claims == {claim["metadata"]["name"]}
    # A second pod, on another node, could not mount the claim while the first one runs.
    assert claim["spec"]["accessModes"] == ["ReadWriteOnce"]
    assert spec["strategy"] == {"type": "Recreate"}
    assert (
        {*container["resources"]["requests"]}
        == {*container["resources"]["limits"]}
        == {"cpu", "memory"}
    )
    # The server answers what it has accepted before it ends.
    assert (
        pod["terminationGracePeriodSeconds"]
        > ServerConfig().deadline + 2 * ServerConfig().idle_seconds
    )

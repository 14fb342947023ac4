"""The container of the server: what its files name exists, and nothing runs as root."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from headway.serving.environment import read_variables

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
# A line that ends in a backslash goes on.
LINES = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.M)).splitlines()


def values_of(instruction: str) -> list[str]:
    prefix = instruction + " "
    return [line.removeprefix(prefix) for line in LINES if line.startswith(prefix)]


@pytest.fixture(scope="module")
def service() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    content = (ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(content)["services"]["headway"]
    return found


def test_the_image_is_built_of_existing_files() -> None:
    ignored = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    copied = [name for line in values_of("COPY") for name in line.split()[:-1]]
    assert {f"!{name}" for name in copied} == {line for line in ignored if line.startswith("!")}
    assert all((ROOT / name).exists() for name in copied)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [extras] = re.findall(r'"\.\[(.*?)\]"', DOCKERFILE)
    assert set(extras.split(",")) <= project["optional-dependencies"].keys()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [torch] = re.findall(r"TORCH=(\S+)", DOCKERFILE)
    assert f"TORCH ?= {torch}" in makefile


def test_the_server_runs_as_a_user_and_is_watched() -> None:
    assert LINES.index("USER 10001") < LINES.index('ENTRYPOINT ["headway", "serve"]')
    assert "EXPOSE 5000" in LINES
    [environment] = values_of("ENV")
    assert {"LT_HOST=0.0.0.0", "LT_PORT=5000"} <= set(environment.split())
    [check] = values_of("HEALTHCHECK")
    command = json.loads(check.partition("CMD ")[2])
    assert "127.0.0.1:5000/health" in command[-1]
    compile(command[-1], "health check", "exec")


def test_the_service_writes_only_to_its_volumes(service: dict[str, Any]) -> None:
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert (
        ROOT / "deploy" / service["build"]["context"] / service["build"]["dockerfile"]
    ).is_file()
    [declared] = values_of("VOLUME")
    mounted = [volume.split(":")[-1] for volume in service["volumes"] if not volume.endswith("ro")]
    assert mounted == json.loads(declared)
    folder = read_variables(service["environment"])["server.glossary_folder"][1]
    assert folder in mounted
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])

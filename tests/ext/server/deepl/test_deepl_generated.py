"""Generated requests for DeepL's addresses; `tests/outside/interface_campaign.py` sends thousands."""

import shutil

import pytest
from starlette.testclient import TestClient

from headway.ext.quality.quality_model import FEATURES, QualityModel
from headway.ext.server.app import App
from headway.ext.server.models import load_models
from headway.ext.server.server import Server
from headway.ext.server.server_settings import ServerConfig
from support.interface_requests import Conversation


# Starlette leaves the file of a part that was cut off to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.slow
def test_answers_are_as_the_description_says(model_directory, tmp_path):
    rated = shutil.copytree(model_directory, tmp_path / "model")
    QualityModel(-1.0, dict.fromkeys(FEATURES, 0.5)).save(rated)
    models = load_models([rated], overrides={"search.max-extra": "3"})
    (tmp_path / "pets.tsv").write_text("cat\tKatze\n")
    config = ServerConfig(glossaries=f"pets={tmp_path / 'pets.tsv'}", file_jobs=20)
    with TestClient(App(Server(models, config)), raise_server_exceptions=False) as client:

        def send(method, address, headers, body):
            answer = client.request(method, address, headers=headers, content=body)
            return answer.status_code, dict(answer.headers), answer.content

        conversation = Conversation(send, seed=3)
        for _ in range(160):
            conversation.ask()
    paths = {path for _, path, status in conversation.statuses if status < 300}
    described = {
        path
        for path, methods in conversation.spec["paths"].items()
        if path.startswith("/v2/")
        and any({"200", "204"} & each["responses"].keys() for each in methods.values())
    }
    assert described <= paths
    assert {400, 404, 415} <= {status for *_, status in conversation.statuses}

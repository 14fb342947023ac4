"""Generated requests for DeepL's addresses; `tests/outside/interface_campaign.py` sends thousands."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from headway.config import ServerConfig
from headway.serving.app import make_app
from headway.serving.models import load_models
from headway.serving.server import Server
from support.interface_requests import Answer, Conversation


# Starlette leaves the file of a part that was cut off to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.slow
def test_answers_are_as_the_description_says(model_directory: Path) -> None:
    models = load_models([model_directory], overrides={"search.max-extra": "3"})
    config = ServerConfig(client_glossaries=1)
    with TestClient(make_app(Server(models, config)), raise_server_exceptions=False) as client:

        def send(method: str, address: str, headers: dict[str, str], body: bytes) -> Answer:
            answer = client.request(method, address, headers=headers, content=body)
            return answer.status_code, dict(answer.headers), answer.content

        conversation = Conversation(send, seed=3)
        for _ in range(250):
            conversation.ask()
    paths = {path for _, path, status in conversation.statuses if status < 300}
    described = {path for path in conversation.spec["paths"] if path.startswith("/v2/")}
    assert described <= paths
    assert {400, 404, 415, 456} <= {status for *_, status in conversation.statuses}

"""What DeepL's clients have sent is counted, also over a restart."""

import json

import pytest

from headway.errors import HeadwayError
from headway.ext.server.usage import Usage
from support.server import client_of

TEXTS = {"text": ["12", "345"], "source_lang": "EN", "target_lang": "DE"}


def test_usage_survives_a_restart(models, tmp_path):
    (tmp_path / "keys").write_text("first\nsecond\n")
    for start in (0, 5):
        with client_of(models, tmp_path / "keys", usage_file=str(tmp_path / "usage")) as client:
            for key, count in (("first", start), ("second", 0)):
                client.headers["Authorization"] = f"DeepL-Auth-Key {key}"
                assert client.get("/v2/usage").json()["character_count"] == count
            client.headers["Authorization"] = "DeepL-Auth-Key first"
            assert client.post("/v2/translate", json=TEXTS).is_success
    assert "first" not in (tmp_path / "usage").read_text()


def test_without_a_file_usage_starts_anew(models):
    for _ in range(2):
        with client_of(models) as client:
            assert client.get("/v2/usage").json()["character_count"] == 0
            assert client.post("/v2/translate", json=TEXTS).is_success


@pytest.mark.parametrize("content", ["[1]", '{"a": "1"}', "{", '{"a": true}'])
def test_a_file_of_something_else_is_named(tmp_path, content):
    (tmp_path / "usage").write_text(content)
    with pytest.raises(HeadwayError, match=r"usage: (holds no counts of characters|damaged)"):
        Usage(str(tmp_path / "usage"))


def test_a_full_disk_is_one_line_and_the_next_try_counts(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("headway.ext.server.usage.log.propagate", True)
    usage = Usage(str(tmp_path / "missing" / "usage"))
    usage.characters["a"] += 3
    usage.save()
    assert len(caplog.messages) == 1
    (tmp_path / "missing").mkdir()
    usage.save()
    assert json.loads((tmp_path / "missing" / "usage").read_text()) == {"a": 3}

"""Glossaries of the server's settings, as DeepL's clients use them."""

from datetime import datetime

from headway.ext.protect.glossary import Glossary
from headway.ext.server import translation
from support.server import ask, client_of

PATH = "/v2/glossaries"


def with_pets(models, folder, rows):
    """A client of a server with the glossary "pets"."""
    (folder / "pets.tsv").write_text(rows)
    return client_of(models, glossaries=f"pets={folder / 'pets.tsv'}")


def translate(client, text, glossary, **fields):
    values = {"text": text, "target_lang": "DE", "source_lang": "EN", **fields}
    return client.post("/v2/translate", json={**values, "glossary_id": glossary})


def test_glossary_id_is_the_name_of_a_glossary_of_the_settings(models, tmp_path):
    with with_pets(models, tmp_path, "cat\tQuarkz\ndog\tHund\n") as client:
        [found] = client.get(PATH).json()["glossaries"]
        assert datetime.fromisoformat(found.pop("creation_time")).tzinfo
        assert found == {
            "glossary_id": "pets", "name": "pets", "ready": True, "source_lang": "en", "target_lang": "de",
            "entry_count": 2,
        }  # fmt: skip
        [translated] = translate(client, "the cat", "pets").json()["translations"]
        assert "Quarkz" in translated["text"]
        for unknown in ("cars", "cat\tKatze"):
            answer = translate(client, "the cat", unknown)
            assert answer.status_code == 404
            assert answer.json()["message"].startswith("Glossary not found")
        answer = translate(client, "the cat", "pets", source_lang="")
        assert answer.status_code == 400


def test_clients_neither_make_nor_delete_glossaries(models, tmp_path):
    with with_pets(models, tmp_path, "cat\tKatze\n") as client:
        assert client.get("/v2/glossary-language-pairs").json() == {"supported_languages": []}
        fields = {"name": "x", "source_lang": "en", "target_lang": "de", "entries": "a\tb"}
        for answer in (client.post(PATH, json=fields), client.delete(f"{PATH}/pets")):
            assert answer.status_code == 400
            assert answer.json()["message"].startswith("Glossaries come from the settings of this")
        assert [each["name"] for each in client.get(PATH).json()["glossaries"]] == ["pets"]


def test_the_work_of_a_glossary_is_bounded(models, tmp_path, monkeypatch):
    glossary = Glossary.of({**{f"cat {n}": "K" for n in range(11)}, "日": "D", "dog": "H"})
    assert glossary.count_tries("cat caz dogs 日日 x") == 11 + 1 + 2
    monkeypatch.setattr(translation, "MAX_TRIES", 100)
    rows = "\n".join(f"cat {n}\tK" for n in range(11))
    with with_pets(models, tmp_path, rows) as client:
        assert translate(client, "the cat " * 9, "pets").status_code == 200
        answer = translate(client, "the cat " * 10, "pets")
        assert answer.status_code == 400
        assert "begin alike" in answer.json()["message"]
        assert ask(client, q="cat " * 10, glossary=rows).status_code == 400

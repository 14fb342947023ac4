"""Glossaries of the server's settings, as DeepL's clients use them."""

from datetime import datetime

from support.server import ask, client_of, send_file

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


def test_a_search_for_terms_that_takes_too_long_is_rejected(models, monkeypatch):
    monkeypatch.setattr("headway.ext.server.text_threads.SECONDS", 0.2)
    rows = "\n".join(f"cat {n}\tK" for n in range(9_000))
    with client_of(models) as client:
        few = ask(client, q="the dog", glossary=rows)
        many = ask(client, q="cat " * 49, glossary=rows)
        file = send_file(client, "a.txt", b"cat " * 2_000, glossary=rows)
    assert (few.status_code, many.status_code, file.status_code) == (200, 413, 413)
    for answer in (many, file):
        assert answer.json()["error"].startswith("This takes too much work: send less text at once")

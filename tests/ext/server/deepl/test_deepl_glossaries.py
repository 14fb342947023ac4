"""Glossaries of the server's settings, as DeepL's clients use them."""

from support.server import ask, client_of, send_file

PATH = "/v2/glossaries"


def translate(client, text, glossary, **fields):
    values = {"text": text, "target_lang": "DE", "source_lang": "EN", **fields}
    return client.post("/v2/translate", json={**values, "glossary_id": glossary})


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

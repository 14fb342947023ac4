"""Glossaries that DeepL's clients make, list, use and delete."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from headway.config import ServerConfig
from headway.errors import HeadwayError
from headway.serving import tokenized_texts
from headway.serving.app import make_app
from headway.serving.deepl import glossary_store
from headway.serving.deepl.glossary_store import GlossaryStore
from headway.serving.keys import Keys
from headway.serving.models import Models, load_models
from headway.serving.server import Server
from headway.text.glossary import Glossary

PATH = "/v2/glossaries"
PAIR = {"source_lang": "en", "target_lang": "de"}


@pytest.fixture(scope="module")
def models(model_directory: Path) -> Models:
    return load_models([model_directory], overrides={"search.max-extra": "9"})


def client_of(models: Models, keys: Keys | None = None, **settings: Any) -> TestClient:
    return TestClient(make_app(Server(models, ServerConfig(**settings), keys)))


def make(client: TestClient, entries: str, **fields: str) -> Any:
    return client.post(PATH, json={"name": "animals", "entries": entries, **PAIR, **fields})


def translate(client: TestClient, text: str, glossary: str, **fields: str) -> Any:
    values = {"text": text, "target_lang": "DE", "source_lang": "EN", **fields}
    return client.post("/v2/translate", json={**values, "glossary_id": glossary})


def test_a_glossary_is_made_used_and_deleted(models: Models) -> None:
    with client_of(models) as client:
        pairs = client.get("/v2/glossary-language-pairs").json()
        assert pairs == {"supported_languages": [PAIR]}
        answer = make(client, "cat\tQuarkz\na* dog\tHund|Katze")
        made = answer.json()
        assert (answer.status_code, made["entry_count"], made["ready"]) == (201, 2, True)
        assert made["creation_time"].endswith("Z")
        address = f"{PATH}/{made['glossary_id']}"
        assert client.get(address).json() == made
        assert client.get(PATH).json() == {"glossaries": [made]}
        entries = client.get(address + "/entries")
        assert entries.text == "cat\tQuarkz\na* dog\tHund|Katze"
        assert entries.headers["content-type"].startswith("text/tab-separated-values")
        answer = translate(client, "the cat sees a* dog", made["glossary_id"])
        [found] = answer.json()["translations"]
        assert "Quarkz" in found["text"]
        assert "Hund|Katze" in found["text"]  # no wildcards and no choices
        deleted = client.delete(address)
        assert (deleted.status_code, deleted.content) == (204, b"")
        for gone in (client.get(address), client.delete(address), client.get(address + "/entries")):
            assert (gone.status_code, gone.json()) == (404, {"message": "Glossary not found"})
        assert translate(client, "the cat", made["glossary_id"]).status_code == 404
        assert translate(client, "the cat", "animals").status_code == 400


def test_tables_with_commas(models: Models) -> None:
    with client_of(models) as client:
        made = make(client, '"cat, the",Katze\r\ndog,Hund,EN,DE\n', entries_format="csv").json()
        entries = client.get(f"{PATH}/{made['glossary_id']}/entries").text
        assert entries == "cat, the\tKatze\ndog\tHund"


def test_a_byte_order_mark_is_no_part_of_a_term(models: Models) -> None:
    with client_of(models) as client:
        for kind, row in (("tsv", "cat\tKatze"), ("csv", "cat,Katze")):
            made = make(client, f"\ufeff{row}", entries_format=kind).json()
            assert client.get(f"{PATH}/{made['glossary_id']}/entries").text == "cat\tKatze"


@pytest.mark.parametrize(
    ("entries", "fields", "message"),
    [
        ("", {}, "missing entries"),
        ("\n\n", {}, "entries"),
        ("cat", {}, "row 1 must have"),
        ("a\tb\ncat\tdog\tx", {}, "row 2 must have"),
        ("a\tb\n\na\tc", {}, "row 3 repeats"),
        ("a\t ", {}, "row 1 has an empty"),
        ("a\tb\x85c", {}, "control"),
        ("a\t" + "b" * 1025, {}, "1,024 bytes"),
        ("a,b,de,en", {"entries_format": "csv"}, "other languages"),
        ('a,"b', {"entries_format": "csv"}, "no row"),
        ("a\tb", {"entries_format": "xml"}, "not supported"),
        ("a\tb", {"target_lang": "fr"}, "'target_lang' not supported"),
        ("a\tb", {"source_lang": "de", "target_lang": "en"}, "Unsupported glossary"),
        ("a\tb", {"name": ""}, "missing name"),
        ("a\tb", {"name": "ä" * 513}, "'name'"),
        ("\n".join(f"{n}\tb" for n in range(5001)), {}, "row 5001 is one too many"),
    ],
)
def test_wrong_glossaries_have_a_message(
    models: Models, entries: str, fields: dict[str, str], message: str
) -> None:
    with client_of(models) as client:
        answer = make(client, entries, **fields)
        assert answer.status_code == 400
        assert message in answer.json()["message"]
        assert client.get(PATH).json() == {"glossaries": []}


def test_each_key_has_its_own_glossaries_and_a_limit(models: Models, tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("first\nsecond\n")
    with client_of(models, Keys(file), client_glossaries=1) as client:
        client.headers["Authorization"] = "DeepL-Auth-Key first"
        made = make(client, "a\tb").json()
        full = make(client, "a\tb")
        assert (full.status_code, [*full.json()]) == (456, ["message"])
        client.headers["Authorization"] = "DeepL-Auth-Key second"
        assert client.get(PATH).json() == {"glossaries": []}
        assert client.delete(f"{PATH}/{made['glossary_id']}").status_code == 404
        assert make(client, "a\tb").status_code == 201
    with client_of(models, client_glossaries=0) as client:
        assert make(client, "a\tb").status_code == 456


def test_glossaries_in_a_folder_survive_the_server(models: Models, tmp_path: Path) -> None:
    settings = {"glossary_folder": str(tmp_path / "kept")}
    with client_of(models, **settings) as client:
        made = [make(client, f"cat\tK{n}", name=f"{n} ä").json() for n in range(3)]
        assert client.delete(f"{PATH}/{made[1]['glossary_id']}").status_code == 204
    with client_of(models, **settings) as client:
        assert client.get(PATH).json() == {"glossaries": [made[0], made[2]]}
    for broken in ("{", "[]", '{"name": 1}'):
        (tmp_path / "kept" / "x.json").write_text(broken)
        with pytest.raises(HeadwayError, match=r"x\.json: is no glossary"):
            GlossaryStore(1, settings["glossary_folder"])
    (tmp_path / "file").write_text("")
    with pytest.raises(HeadwayError, match=r"glossary_folder.*file"):
        GlossaryStore(1, str(tmp_path / "file"))


def test_the_glossaries_that_were_used_last_are_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    store = GlossaryStore(9)
    made = [store.add("", "x", ("en", "de"), f"cat {n}\tK") for n in range(4)]
    monkeypatch.setattr(glossary_store, "COMPILED", 3 * len(made[0].entries))

    async def use() -> None:
        first, second, third = [await store.compile(glossary) for glossary in made[:3]]
        assert [each.terms[0].source for each in (first, second, third)] == [
            "cat 0", "cat 1", "cat 2",
        ]  # fmt: skip
        assert await store.compile(made[0]) is first
        await store.compile(made[3])
        assert await store.compile(made[0]) is first
        assert await store.compile(made[2]) is third
        assert await store.compile(made[1]) is not second
        # One that is larger than the room is ready, too, and alone.
        large = store.add("", "x", ("en", "de"), f"{'cat' * 20}\tK")
        assert await store.compile(large) is await store.compile(large)
        assert await store.compile(made[0]) is not first

    asyncio.run(use())


def test_a_glossary_that_is_made_twice_at_once_takes_room_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = GlossaryStore(9)
    first, second, removed = [store.add("", "x", ("en", "de"), f"cat {n}\tK") for n in range(3)]
    monkeypatch.setattr(glossary_store, "COMPILED", 2 * len(first.entries))

    async def use() -> None:
        ready = await store.compile(first)
        await asyncio.gather(store.compile(second), store.compile(second))
        assert await store.compile(first) is ready
        await store.compile(second)  # so that the first one would go next
        making = asyncio.create_task(store.compile(removed))
        await asyncio.sleep(0)
        store.remove(removed)
        assert (await making).terms[0].source == "cat 2"
        assert await store.compile(first) is ready  # the removed one has taken no room

    asyncio.run(use())


def test_the_work_of_a_glossary_is_bounded(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    glossary = Glossary.of({**{f"cat {n}": "K" for n in range(11)}, "日": "D", "dog": "H"})
    assert glossary.count_tries("cat caz dogs 日日 x") == 11 + 1 + 2
    monkeypatch.setattr(tokenized_texts, "MAX_TRIES", 100)
    with client_of(models) as client:
        made = make(client, "\n".join(f"cat {n}\tK" for n in range(11))).json()
        assert translate(client, "the cat " * 9, made["glossary_id"]).status_code == 200
        answer = translate(client, "the cat " * 10, made["glossary_id"])
        assert answer.status_code == 400
        assert "begin alike" in answer.json()["message"]
        rows = "\n".join(f"cat {n}\tK" for n in range(11))
        libre = {"q": "cat " * 10, "source": "en", "target": "de", "glossary": rows}
        assert client.post("/translate", json=libre).status_code == 400

"""The quality of the server's translations is Python's, and a model without one is refused."""

import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from headway import translate_file
from headway.config import ServerConfig
from headway.errors import HeadwayError
from headway.ext.quality.evidence import FEATURES
from headway.ext.quality.quality_model import QualityModel
from headway.ext.server.app import make_app
from headway.ext.server.models import Models, load_models
from headway.ext.server.server import Server
from headway.text.tokenizer import Tokenizer
from support.segments import translate_texts
from support.toy_models import sentences, write_random_model

SHORT = {"search.max-extra": "7"}
QUALITY = QualityModel(-1.0, dict.fromkeys(FEATURES, 0.5))


def load_rated(folder: Path, tokenizer: Tokenizer, rated: int) -> Models:
    """English to German, and German to French; the first so many are calibrated."""
    paths = [
        write_random_model(folder / code, tokenizer, (source, code), 10)
        for source, code in (("en", "de"), ("de", "fr"))
    ]
    for path in paths[:rated]:
        QUALITY.save(path)
    return load_models(paths, "de", overrides=SHORT)


def started(models: Models) -> TestClient:
    return TestClient(make_app(Server(models, ServerConfig(), workers=2)))


@pytest.mark.slow
def test_the_quality_is_that_of_python(tokenizer: Tokenizer, tmp_path: Path) -> None:
    models = load_rated(tmp_path, tokenizer, 2)
    texts = [" ".join(f"{s.capitalize()}." for s in sentences(n, n)) for n in (1, 3, 2)]
    texts += ["", "…"]
    translator = models.pairs["en", "de"]
    expected = translate_texts(translator, texts, quality=True)

    with started(models) as client:

        def ask(**fields: Any) -> Any:
            body = {"source": "en", "target": "de", "quality": True, **fields}
            answer = client.post("/translate", json=body)
            assert answer.status_code == 200, answer.text
            return answer.json()

        found = ask(q=texts)
        assert found["translatedText"] == [t.text for t in expected]
        assert found["quality"] == [round(t.quality, 4) for t in expected]
        assert found["quality"][3:] == [1, 1]
        for text, own, rated in zip(
            found["translatedText"], found["sentences"], expected, strict=True
        ):
            best = [s.translation for s in rated.sentences]
            assert [text[s["start"] : s["end"]] for s in own] == [t.text for t in best]
            assert [s["quality"] for s in own] == [round(t.quality or 0, 4) for t in best]
            assert [(s["defects"], s["repaired"]) for s in own] == [
                ([*t.defects], [*t.repaired]) for t in best
            ]
        assert len(found["sentences"][1]) == 3
        alone = ask(q=texts[1])
        assert (alone["quality"], alone["sentences"]) == (
            found["quality"][1],
            found["sentences"][1],
        )
        page = ask(q=f"<p>{texts[0]}</p><p>{texts[2]}</p>", format="html")
        assert "sentences" not in page
        assert min(found["quality"][0::2][:2]) <= page["quality"] <= max(found["quality"][0::2][:2])
        # Through a pivot it is the lower one of both models.
        further = ask(q=found["translatedText"][0], source="de", target="fr")
        both = ask(q=texts[0], target="fr")
        assert both["translatedText"] == further["translatedText"]
        assert both["quality"] == min(found["quality"][0], further["quality"])
        assert "quality" not in ask(q=texts[0], quality=False)
        assert client.get("/frontend/settings").json()["quality"] is True


@pytest.mark.slow
def test_a_model_that_was_not_calibrated_is_refused(tokenizer: Tokenizer, tmp_path: Path) -> None:
    with started(load_rated(tmp_path, tokenizer, 1)) as client:
        assert client.get("/frontend/settings").json()["quality"] is False
        statuses = {}
        for target in ("de", "fr"):
            body = {"q": "the cat", "source": "en", "target": target, "quality": True}
            answer = client.post("/translate", json=body)
            statuses[target] = answer.status_code
        assert statuses == {"de": 200, "fr": 400}
        assert answer.json()["error"].startswith("Invalid request: quality needs a model that")
    (tmp_path / "fr" / "quality.json").write_text("{}")
    with pytest.raises(HeadwayError, match=r"quality\.json: damaged"):
        load_models([tmp_path / "fr"])


@pytest.mark.slow
def test_the_report_of_a_file_is_that_of_python(tokenizer: Tokenizer, tmp_path: Path) -> None:
    models = load_rated(tmp_path, tokenizer, 1)
    lines = [" ".join(f"{s.capitalize()}." for s in sentences(n, n)) for n in (3, 1, 2)]
    source, output, report = (tmp_path / name for name in ("a.txt", "a.de.txt", "report.tsv"))
    source.write_text("\n".join([*lines, "", ""]), encoding="utf-8")
    translate_file(models.pairs["en", "de"], source, output, report=report)
    with started(models) as client:

        def send(**fields: str) -> Any:
            fields = {"source": "en", "target": "de"} | fields
            sent = {"file": ("a.txt", source.read_bytes())}
            return client.post("/translate_file", data=fields, files=sent)

        def fetch(url: str) -> tuple[bytes, str]:
            answer = client.get(urlsplit(url).path)
            return answer.content, answer.headers["content-disposition"].rpartition("'")[2]

        answer = send(quality="true").json()
        assert fetch(answer["translatedFileUrl"]) == (output.read_bytes(), "a.de.txt")
        table, name = fetch(answer["qualityUrl"])
        assert (table.decode(), name) == (report.read_text("utf-8"), "a.de.txt.quality.tsv")
        rows = [row.split("\t") for row in table.decode().splitlines()[1:]]
        assert len(rows) == 6
        qualities = [float(row[0]) for row in rows]
        assert min(qualities) < answer["quality"] < max(qualities)
        assert [*send().json()] == [*send(quality="false").json()] == ["translatedFileUrl"]
        refused = send(quality="true", source="de", target="fr")
        assert (refused.status_code, "needs a model that" in refused.text) == (400, True)


@pytest.mark.slow
def test_a_document_that_is_asked_for_has_the_same_quality(
    tokenizer: Tokenizer, tmp_path: Path
) -> None:
    file = {"file": ("a.txt", b"The cat sees a dog. A dog.\n\n12 34\n")}
    with started(load_rated(tmp_path, tokenizer, 1)) as client:

        def send(source: str, target: str, quality: str) -> tuple[dict[str, Any], list[Any]]:
            """Return the last state of a document, and the answers with its file and its table."""
            fields = {"source_lang": source, "target_lang": target, "quality": quality}
            sent = client.post("/v2/document", data=fields, files=file).json()
            address, key = f"/v2/document/{sent['document_id']}", sent
            for _ in range(600):
                state = client.post(address, json=key).json()
                if state["status"] in ("done", "error"):
                    parts = ("result", "quality")
                    return state, [client.post(f"{address}/{part}", json=key) for part in parts]
                time.sleep(0.02)
            raise AssertionError(state)

        for quality in ("true", "false"):
            state, parts = send("EN", "DE", quality)
            fields = {"source": "en", "target": "de", "quality": quality}
            waited = client.post("/translate_file", data=fields, files=file).json()
            assert state.get("quality") == waited.get("quality")
            urls = [waited[name] for name in ("translatedFileUrl", "qualityUrl") if name in waited]
            for part, url in zip(parts, urls, strict=False):
                same = client.get(urlsplit(url).path)
                assert part.content == same.content
                names = [answer.headers["content-disposition"] for answer in (part, same)]
                assert names[0] == names[1]
        assert [part.status_code for part in parts] == [200, 404]
        assert parts[1].json() == {"message": "Document has no quality: send it with quality=true"}
        fields = {"source_lang": "DE", "target_lang": "FR", "quality": "true"}
        refused = client.post("/v2/document", data=fields, files=file)
        assert (refused.status_code, "needs a model that" in refused.text) == (400, True)
        state, parts = send("", "FR", "true")  # the language is detected later
        assert state["status"] == "error"
        assert "needs a model that" in state["error_message"]
        assert [part.status_code for part in parts] == [503, 503]


@pytest.mark.slow
def test_a_document_may_have_the_lowest_quality(tokenizer: Tokenizer, tmp_path: Path) -> None:
    models = load_rated(tmp_path, tokenizer, 1)
    models.pairs["en", "de"].quality_model = QualityModel(-1000.0, dict.fromkeys(FEATURES, 0.0))
    with started(models) as client:
        fields = {"source_lang": "EN", "target_lang": "DE", "quality": "true"}
        sent = client.post("/v2/document", data=fields, files={"file": ("a.txt", b"A dog.")}).json()
        for _ in range(600):
            state = client.post(f"/v2/document/{sent['document_id']}", json=sent).json()
            if state["status"] == "done":
                break
            time.sleep(0.02)
        assert state["quality"] == 0


@pytest.mark.slow
def test_the_quality_of_a_file_is_that_of_its_sentences(
    tokenizer: Tokenizer, tmp_path: Path
) -> None:
    text = "The cat sees a dog. A dog.\n" + "12 34\n====\n" * 40
    with started(load_rated(tmp_path, tokenizer, 2)) as client:

        def rate(target: str) -> tuple[float, list[list[str]]]:
            fields = {"source": "en", "target": target, "quality": "true"}
            answer = client.post("/translate_file", data=fields, files={"file": ("a.txt", text)})
            table = client.get(urlsplit(answer.json()["qualityUrl"]).path).text
            return answer.json()["quality"], [row.split("\t") for row in table.splitlines()[1:]]

        mean, rows = rate("de")
        assert [row[2] for row in rows] == ["The cat sees a dog.", "A dog."]
        lengths = [len(row[2]) for row in rows]
        expected = sum(n * float(row[0]) for n, row in zip(lengths, rows, strict=True)) / sum(
            lengths
        )
        assert mean == pytest.approx(expected, abs=2e-4)
        mean, rows = rate("fr")  # by German
        assert [row[2] for row in rows] == ["The cat sees a dog. A dog."]
        assert mean == float(rows[0][0])

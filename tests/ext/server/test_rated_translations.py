"""The quality of the server's translations is Python's, and a model without one is refused."""

import copy
import shutil

import pytest

from headway import translate_file
from headway.errors import HeadwayError
from headway.ext.quality.quality_model import FEATURES, QualityModel
from headway.ext.server.models import Models, load_models
from support.extended_pieces import translate_texts
from support.server import ask, ask_about, client_of, fetch, send_document, send_file, wait_for
from support.toy_models import sentences, write_random_model

QUALITY = QualityModel(-1.0, dict.fromkeys(FEATURES, 0.5))


@pytest.fixture(scope="module")
def half(tokenizer, tmp_path_factory):
    """English to German, and German to French; only the first is calibrated."""
    folder = tmp_path_factory.mktemp("rated")
    for source, target in (("en", "de"), ("de", "fr")):
        write_random_model(folder / target, tokenizer, (source, target), 10)
    QUALITY.save(folder / "de")
    return load_models([folder / "de", folder / "fr"], "de", overrides={"search.max-extra": "7"})


@pytest.fixture(scope="module")
def whole(half):
    """The same models, both calibrated."""
    first, second = half.pairs["en", "de"], copy.copy(half.pairs["de", "fr"])
    second.quality_model = QUALITY
    return Models([first, second], "de")


@pytest.mark.slow
def test_the_quality_is_that_of_python(whole):
    texts = [" ".join(f"{s.capitalize()}." for s in sentences(n, n)) for n in (1, 3, 2)]
    texts += ["", "…"]
    expected = translate_texts(whole.pairs["en", "de"], texts, quality=True)
    with client_of(whole) as client:

        def rate(**fields):
            answer = ask(client, **{"quality": True, **fields})
            assert answer.status_code == 200, answer.text
            return answer.json()

        found = rate(q=texts)
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
        alone = rate(q=texts[1])
        assert [alone[name] for name in ("quality", "sentences")] == [
            found[name][1] for name in ("quality", "sentences")
        ]
        page = rate(q=f"<p>{texts[0]}</p><p>{texts[2]}</p>", format="html")
        assert "sentences" not in page
        assert min(found["quality"][0::2][:2]) <= page["quality"] <= max(found["quality"][0::2][:2])
        # Through a pivot it is the lower one of both models.
        further = rate(q=found["translatedText"][0], source="de", target="fr")
        both = rate(q=texts[0], target="fr")
        assert both["translatedText"] == further["translatedText"]
        assert both["quality"] == min(found["quality"][0], further["quality"])
        assert "quality" not in rate(q=texts[0], quality=False)
        assert client.get("/frontend/settings").json()["quality"] is True


def test_a_model_that_was_not_calibrated_is_refused(half, model_directory, tmp_path):
    with client_of(half) as client:
        assert client.get("/frontend/settings").json()["quality"] is False
        assert ask(client, q="the cat", quality=True).status_code == 200
        answer = ask(client, q="the cat", quality=True, target="fr")
        assert answer.status_code == 400
        assert answer.json()["error"].startswith("Invalid request: quality needs a model that")
    damaged = shutil.copytree(model_directory, tmp_path / "damaged")
    (damaged / "quality.json").write_text("{}")
    with pytest.raises(HeadwayError, match=r"quality\.json: damaged"):
        load_models([damaged])


@pytest.mark.slow
def test_the_report_of_a_file_is_that_of_python(half, whole, tmp_path):
    lines = [" ".join(f"{s.capitalize()}." for s in sentences(n, n)) for n in (3, 1, 2)]
    source, output, report = (tmp_path / name for name in ("a.txt", "a.de.txt", "report.tsv"))
    source.write_text("\n".join([*lines, "12 34", "", ""]), encoding="utf-8")
    data = source.read_bytes()
    translate_file(half.pairs["en", "de"], source, output, report=report)
    with client_of(half) as client:
        answer = send_file(client, "a.txt", data, quality="true")
        for name, expected in (("translatedFileUrl", output), ("qualityUrl", report)):
            assert fetch(client, answer, name).content == expected.read_bytes()
        shown = fetch(client, answer, "qualityUrl").headers["content-disposition"]
        assert shown.endswith("a.de.txt.quality.tsv")
        rows = [row.split("\t") for row in report.read_text("utf-8-sig").splitlines()[1:]]
        assert len(rows) == 6
        # The mean of a file is that of its sentences, by their lengths; other lines do not count.
        lengths = [len(row[4]) for row in rows]
        mean = sum(n * float(row[0]) for n, row in zip(lengths, rows, strict=True)) / sum(lengths)
        assert answer.json()["quality"] == pytest.approx(mean, abs=2e-4)
        for more in ({}, {"quality": "false"}):
            assert [*send_file(client, "a.txt", data, **more).json()] == ["translatedFileUrl"]
        refused = send_file(client, "a.txt", data, quality="true", source="de", target="fr")
        assert (refused.status_code, "needs a model that" in refused.text) == (400, True)
    with client_of(whole) as client:  # by German: its sentences are not those of the file
        answer = send_file(client, "a.txt", data, quality="true", target="fr")
        rows = fetch(client, answer, "qualityUrl").text.splitlines()[1:]
        assert sorted(row.split("\t")[4] for row in rows) == sorted(lines)


@pytest.mark.slow
def test_a_document_that_is_asked_for_has_the_same_quality(half, monkeypatch):
    data = b"The cat sees a dog. A dog.\n\n12 34\n"
    with client_of(half) as client:

        def send(source, target, quality):
            """Return the last state of a document, and the answers with its file and its table."""
            fields = {"source_lang": source, "target_lang": target, "quality": quality}
            sent = send_document(client, "a.txt", data, **fields).json()
            state = wait_for(client, sent)
            return state, [ask_about(client, sent, part) for part in ("/result", "/quality")]

        for quality in ("true", "false"):
            state, parts = send("EN", "DE", quality)
            waited = send_file(client, "a.txt", data, quality=quality)
            assert state.get("quality") == waited.json().get("quality")
            names = [n for n in ("translatedFileUrl", "qualityUrl") if n in waited.json()]
            for part, name in zip(parts, names, strict=False):
                same = fetch(client, waited, name)
                assert part.content == same.content
                shown = [answer.headers["content-disposition"] for answer in (part, same)]
                assert shown[0] == shown[1]
        assert [part.status_code for part in parts] == [200, 404]
        assert parts[1].json() == {"message": "Document has no quality: send it with quality=true"}
        fields = {"source_lang": "DE", "target_lang": "FR", "quality": "true"}
        refused = send_document(client, "a.txt", data, **fields)
        assert (refused.status_code, "needs a model that" in refused.text) == (400, True)
        state, parts = send("", "FR", "true")  # the language is detected later
        assert state["status"] == "error"
        assert "needs a model that" in state["error_message"]
        assert [part.status_code for part in parts] == [503, 503]
        lowest = QualityModel(-1000.0, dict.fromkeys(FEATURES, 0.0))
        monkeypatch.setitem(vars(half.pairs["en", "de"]), "quality_model", lowest)
        assert send("EN", "DE", "true")[0]["quality"] == 0

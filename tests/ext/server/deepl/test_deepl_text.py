"""DeepL's addresses for text: the requests of its clients, and the answers that they expect."""

import pytest

from headway.ext.server.models import load_models
from support.server import client_of
from support.toy_models import write_random_model


@pytest.fixture(scope="module")
def three(tokenizer, tmp_path_factory):
    """English to German, German to English, and English to Portuguese."""
    known = [("en", "de"), ("de", "en"), ("en", "pt-BR")]
    folders = [tmp_path_factory.mktemp("model") for _ in known]
    for seed, (folder, pair) in enumerate(zip(folders, known, strict=True)):
        write_random_model(folder, tokenizer, pair, seed)
    return load_models(folders, overrides={"search.max-extra": "7"})


@pytest.fixture(scope="module")
def client(three):
    return client_of(three, char_limit=500)


def ask(client, **fields):
    return client.post("/v2/translate", json={"target_lang": "DE", "source_lang": "EN", **fields})


def texts(answer):
    assert answer.status_code == 200, answer.text
    return [each["text"] for each in answer.json()["translations"]]


def test_texts_are_translated_as_the_model_does(client, three):
    given = ["the cat sees a dog", "", "a house. the wall"]
    expected = [three.pairs["en", "de"].translate(text) for text in given[:1]]
    answer = ask(client, text=given, show_billed_characters=True)
    assert texts(answer)[:2] == [*expected, ""]
    first = answer.json()["translations"][0]
    assert first["detected_source_language"] == "EN"
    assert first["billed_characters"] == len(given[0])
    form = client.post(
        "/v2/translate", data={"text": given, "target_lang": "de", "source_lang": "en-US"}
    )
    assert texts(form) == texts(answer)
    assert "billed_characters" not in form.json()["translations"][0]
    assert texts(ask(client, text="the cat sees a dog")) == expected


def test_the_language_of_each_text_is_detected(client):
    given = ["The weather is very nice today, and we go out.", "Das Wetter ist heute sehr schön."]
    answer = ask(client, text=given, source_lang=None)
    found = answer.json()["translations"]
    assert [each["detected_source_language"] for each in found] == ["EN", "DE"]
    assert found[1]["text"] == given[1]
    assert found[0]["text"] != given[0]


def test_how_sentences_are_split(client):
    whole, lines = "the cat. a dog", "the cat\nsees a dog"
    [split] = texts(ask(client, text=whole))
    assert split == " ".join(texts(ask(client, text=["the cat.", "a dog"])))
    assert texts(ask(client, text=whole, split_sentences="0")) != [split]
    assert "\n" in texts(ask(client, text=lines))[0]
    joined = texts(ask(client, text=lines, split_sentences="nonewlines"))
    assert joined == texts(ask(client, text="the cat sees a dog"))


def test_tags(client):
    xml = 'the <b>cat</b> <x id="7"></x> sees &amp; <k>a dog</k>'
    [found] = texts(ask(client, text=xml, tag_handling="xml", ignore_tags=["x", "k"]))
    for part in ("<b>", "</b>", '<x id="7"></x>', "<k>a dog</k>"):
        assert found.count(part) == 1
    html = "<p>the <b>cat</b></p><p translate=no>a dog</p>"
    [found] = texts(ask(client, text=html, tag_handling="html"))
    assert found.endswith("<p translate=no>a dog</p>")
    [found] = texts(ask(client, text="the <a:k>cat</a:k>", tag_handling="xml", ignore_tags="a:k"))
    assert "<a:k>cat</a:k>" in found
    split = texts(ask(client, text="the<s/>cat", tag_handling="xml", splitting_tags="r,s"))
    parts = texts(ask(client, text=["the", "cat"]))
    assert split == ["<s/>".join(parts)]


def test_tags_without_text_beside_them_separate_unless_switched_off(client):
    xml = "<d><t>the cat sees</t><t>the cat sees</t></d>"
    [part] = texts(ask(client, text="the cat sees"))
    apart = [f"<d><t>{part}</t><t>{part}</t></d>"]
    for value, is_apart in ((None, True), ("", True), (True, True), ("0", False), (False, False)):
        given = ask(client, text=xml, tag_handling="xml", outline_detection=value)
        assert (texts(given) == apart) is is_apart, value
    assert texts(ask(client, text=xml, tag_handling="xml")) == apart


def test_keys_and_usage(three, tmp_path):
    file = tmp_path / "keys"
    file.write_text("first\nsecond\n")
    client = client_of(three, file)
    headers = {key: {"Authorization": f"DeepL-Auth-Key {key}"} for key in ("first", "second", "x")}
    fields = {"text": ["the cat", "a dog"], "target_lang": "DE"}
    answer = client.post("/v2/translate", json=fields, headers=headers["first"])
    assert answer.status_code == 200
    counts = [client.get("/v2/usage", headers=headers[key]).json() for key in ("first", "second")]
    assert [each["character_count"] for each in counts] == [12, 0]
    assert counts[0]["character_limit"] > 10**9
    for path in ("/v2/usage", "/v2/languages"):
        for wrong in (headers["x"], {}):
            answer = client.get(path, headers=wrong)
            assert (answer.status_code, [*answer.json()]) == (403, ["message"])
    assert client.post("/v2/translate", json=fields).status_code == 403

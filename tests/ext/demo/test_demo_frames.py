"""Sentence frames are complete in every language, and a mistake in their files is named."""

import shutil

import pytest

pytest.importorskip("babel")
pytest.importorskip("num2words")

from headway.errors import HeadwayError
from headway.ext.demo.fillers import FILLERS
from headway.ext.demo.frames import FOLDER, SLOT, built_in_frames, load_frames, slot_names

TRAIN = """[train]
en = "The train to {city} leaves at {time}, and {man} {task.did}."
de = "Der Zug nach {city} fährt um {time} ab, und {man} hat {task.obj} {task.done}."
"""
CITY = """berlin = { en = "Berlin", de = "Berlin" }
rome = { en = "Rome", de = "Rom" }
"""
TASK = """[window]
en = { do = "open the window", did = "opened the window" }
de = { obj = "das Fenster", done = "aufgemacht" }
[door]
en = { do = "close the door", did = "closed the door" }
de = { obj = "die Tür", done = "zugemacht" }
"""


def write(folder, *, frames=TRAIN, city=CITY, task=TASK):
    (folder / "words").mkdir()
    for name, text in {"frames": frames, "words/city": city, "words/task": task}.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


def test_the_built_in_frames_have_three_languages():
    data = built_in_frames()
    assert data.languages == ("en", "de", "fr")
    assert len(data.frames) >= 100
    for frame in data.frames:
        for language in data.languages:
            sentence = frame.sentences[language]
            assert slot_names(sentence) == set(frame.slots), (frame.name, language)
            assert not set(SLOT.sub("", sentence)) & set("{}"), (frame.name, language)
            assert sentence[-1] in ".?", (frame.name, language)


def test_no_sentence_occurs_in_two_frames():
    data = built_in_frames()
    for language in data.languages:
        sentences = {SLOT.sub("{}", frame.sentences[language]) for frame in data.frames}
        assert len(sentences) == len(data.frames)


def test_every_slot_is_a_rule_or_a_word_table():
    data = built_in_frames()
    slots = {slot.removesuffix("2") for frame in data.frames for slot in frame.slots}
    assert slots == FILLERS.keys() | data.tables.keys()
    assert not FILLERS.keys() & data.tables.keys()


def test_word_forms_are_filled_in():
    for name, table in built_in_frames().tables.items():
        for key, word in table.items():
            for language, forms in word.forms.items():
                empty = [form for form, text in forms.items() if not text]
                # Only the ending of a French masculine participle is empty.
                assert empty in ([], ["e"]), (name, key, language)


def test_a_small_set_of_frames_is_read(tmp_path):
    data = load_frames(write(tmp_path), FILLERS.keys())
    assert data.languages == ("en", "de")
    [frame] = data.frames
    assert (frame.name, frame.slots) == ("train", ("city", "man", "task", "time"))
    assert data.tables["city"]["rome"].form("de", None) == "Rom"
    assert data.tables["task"]["door"].form("en", None) == "close the door"
    assert data.tables["task"]["door"].form("de", "done") == "zugemacht"


def without(text, part):
    assert part in text
    return text.replace(part, "", 1)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"frames": without(TRAIN, "{city} ")}, "frames.toml: [train]: en lacks the slot {city}"),
        ({"frames": without(TRAIN, "um {time} ")}, "frames.toml: [train]: de lacks the slot {time}"),
        (
            {"frames": TRAIN + '[other]\nen = "Good morning, {man}."\n'},
            "frames.toml: [other]: has no de",
        ),
        (
            {"frames": TRAIN + '[other]\nen = "A"\nde = "A"\nfr = "A"\n'},
            "frames.toml: [other]: 'fr' is not a language of the first frame",
        ),
        (
            {"frames": TRAIN.replace("{city}", "{town}")},
            "frames.toml: [train]: en: {town}: no words/town.toml, and no rule of that name",
        ),
        (
            {"frames": TRAIN.replace("{task.obj}", "{task.did}")},
            "frames.toml: [train]: de: {task.did}: words/task.toml has no de form 'did', only obj, done",
        ),
        (
            {"frames": TRAIN.replace("{man}", "{man.dat}")},
            "frames.toml: [train]: en: {man.dat}: 'man' is filled by a rule and has no forms",
        ),
        ({"frames": TRAIN.replace("{city}", "{City}")}, "frames.toml: [train]: en: a brace outside a slot"),
        ({"frames": "[train]\nen = 3\nde = 3\n"}, "frames.toml: [train]: a sentence must be a text"),
        ({"frames": 'train = "The train"\n'}, "frames.toml: [train]: no texts by language"),
        ({"frames": "[train\n"}, "frames.toml: "),
        ({"frames": ""}, "frames.toml: is empty"),
        ({"city": without(CITY, ', de = "Rom"')}, "city.toml: rome: has no de"),
        ({"task": without(TASK, ', done = "zugemacht"')}, "task.toml: door: de lacks the form 'done'"),
        (
            {"task": TASK.replace('did = "closed', 'past = "closed')},
            "task.toml: door: en lacks the form 'did'",
        ),
        (
            {"task": TASK.replace('done = "zugemacht"', 'done = "zugemacht", zu = "zuzumachen"')},
            "task.toml: door: de: 'zu' is no form of the first word",
        ),
        ({"task": TASK.replace('"closed the door"', "1")}, "task.toml: door: en: 'did' must be a text"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_file_frame_and_slot(tmp_path, files, message):
    with pytest.raises(HeadwayError) as caught:
        load_frames(write(tmp_path, **files), FILLERS.keys())
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_a_language_removed_from_one_built_in_word_is_named(tmp_path, language):
    shutil.copytree(FOLDER / "words", tmp_path / "words")
    shutil.copy(FOLDER / "frames.toml", tmp_path)
    path = tmp_path / "words" / "country.toml"
    lines = path.read_text(encoding="utf-8").splitlines()
    row = lines.index("[PT]")
    gone = next(i for i in range(row, len(lines)) if lines[i].startswith(f"{language} = "))
    path.write_text("\n".join(lines[:gone] + lines[gone + 1 :]), encoding="utf-8")
    with pytest.raises(HeadwayError, match=rf"country\.toml: PT: has no {language}"):
        load_frames(tmp_path, FILLERS.keys())

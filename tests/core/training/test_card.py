"""Model cards: the hub reads the metadata that was written."""

import pytest

from headway.config import Config
from headway.training.machine import Machine
from headway.training.storage.card import model_card
from headway.training.storage.record import DataRecord, RunRecord
from headway.training.validation import ValidationReport
from headway.translation.front_matter import complete_card, front_matter, license_fields, split_card
from support.cases import each_case

huggingface_hub = pytest.importorskip("huggingface_hub")

ORIGINS = [
    {"name": "a + b", "parts": [
        {"name": "hf:wmt/wmt14@main:de-en:train", "program": "datasets 5", "revision": "c0"},
        {"name": "mtdata:A-b-1-deu-eng", "program": "mtdata 0.5.1", "revision": None},
    ]},
    {"name": "sacrebleu:wmt14", "program": "sacrebleu 2", "revision": None},
]  # fmt: skip
DATA = DataRecord(
    directory=None, fingerprint="f1", tokenizer="t1", languages=["no", "de"], training_pairs=23,
    validation_pairs=7, origins=ORIGINS, validation_text="v1", tokenizer_files="w1",
)  # fmt: skip
RECORD = RunRecord(
    headway="0.2", torch="2.13", native="n1", command=["headway", "train", "x"],
    files={"train": {}, "valid": {}}, data=DATA, init=None,
    machine=Machine(device="cpu", threads=1, precision="fp32"), processes=1, settings=Config(),
)  # fmt: skip
REPORT = ValidationReport(step=3, averaged=1, perplexity=4.5, bleu=31.256, chrf=55.5)


def read(text):
    return huggingface_hub.ModelCard(text).data


def test_the_hub_can_parse_the_card_of_a_trained_model():
    text = model_card(Config(), RECORD, ("no", "de"), "weights at step 3", REPORT)
    card = read(text)
    assert card.language == ["no", "de"]  # which YAML alone takes for False
    assert card.license == "unknown"
    assert (card.library_name, card.pipeline_tag) == ("headway", "translation")
    assert card.tags == ["translation", "transformer", "headway"]
    assert card.metrics == ["bleu", "chrf"]
    assert card.datasets == ["wmt/wmt14"]
    values = {result.metric_type: result for result in card.eval_results}
    assert {k: r.metric_value for k, r in values.items()} == {"bleu": 31.26, "chrf": 55.5}
    assert values["bleu"].task_type == "translation"
    assert "version:2" in values["bleu"].metric_name  # sacreBLEU's signature
    body = split_card(text)[1]
    assert "This command started the training:\n\n    headway train x\n" in body
    for name in ("hf:wmt/wmt14@main:de-en:train", "revision `c0`", "mtdata:A-b-1-deu-eng"):
        assert name in body


def test_completing_a_card_keeps_all_of_its_text():
    text = "---\nlanguage:\n- en\n# ours\nlicense: mit\nwidget:\n- text: a\n---\n\n# A\n---\nb"
    done = complete_card(text, ("en", "de"))
    assert complete_card(done, ("en", "de")) == done
    card = read(done)
    assert (card.language, card.license) == (["en"], "mit")
    assert card.to_dict()["widget"] == [{"text": "a"}]
    assert card.pipeline_tag == "translation"
    assert split_card(done)[1] == "\n# A\n---\nb"
    other = complete_card(done, ("en", "de"), "cc0-1.0")
    assert read(other).license == "cc0-1.0"
    assert other.count("license:") == 1


@each_case
def test_the_license_of_a_card_is_taken_as_it_is(head, expected):
    done = complete_card(license_fields(f"---\n{head}\n---\n# A\n"), ("en", "de"))
    found = {
        name: value.strip() if isinstance(value, str) else value
        for name, value in read(done).to_dict().items()
        if name.startswith("license")
    }
    assert found == expected | ({} if expected else {"license": "unknown"})


def test_a_card_without_metadata_gets_metadata():
    for text in ("", "# A\n", "---\nnever closed\n"):
        assert complete_card(text, ("en", "de")) == front_matter(("en", "de")) + text

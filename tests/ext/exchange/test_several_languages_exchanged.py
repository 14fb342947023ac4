"""Models of several pairs of languages in other programs' formats: exact, and the same after a round trip."""

import pytest
import torch

from headway.cli.main import dispatch
from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.ext.exchange.exporting import export_model
from headway.ext.exchange.importing import import_model
from headway.translation import Translator
from headway.translation.directory import load_model
from support.toy_models import PAIRS, sentences, write_several

pytest.importorskip("ctranslate2")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
GREEDY = SearchConfig(beam=1, max_extra=9)
TEXTS = [*sentences(9, 3), ">>fr<< the cat", "鳥 the"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return load_model(write_several(tmp_path_factory.mktemp("several")))


def assert_same_translations(again, model, pairs):
    ours, theirs = Translator.load(model.path), Translator.load(again)
    assert theirs.pairs == pairs
    for source, target in pairs:
        both = [each.to(target, source) for each in (ours, theirs)]
        encoded, again_encoded = (each.tokenizer.encode_source(TEXTS) for each in both)
        assert encoded == again_encoded
        scores = [torch.tensor(each.score(TEXTS, [text[::-1] for text in TEXTS])) for each in both]
        torch.testing.assert_close(*scores, rtol=1e-4, atol=1e-3)
        assert both[0].translate(TEXTS, GREEDY) == both[1].translate(TEXTS, GREEDY)


@pytest.mark.parametrize("name", ["ctranslate2", "huggingface"])
def test_an_export_of_all_pairs_is_exact(name, model, tmp_path):
    transformers = pytest.importorskip({"huggingface": "transformers"}.get(name, name))
    export = export_model(model, name, tmp_path / "out", lines=TEXTS)
    assert export.certificate is not None
    assert not export.certificate.failures
    assert export.certificate.identical + export.certificate.ties == export.certificate.lines
    [note] = [note for note in export.notes if note.startswith("target language")]
    assert ">>de<< >>fr<< >>en<<" in note
    import_model(tmp_path / "out", tmp_path / "again")
    assert_same_translations(tmp_path / "again", model, PAIRS)
    if name == "huggingface":
        theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
        for target in ("de", "fr", "en"):
            [ours] = model.tokenizer.to(target).encode_source(["the cat sees"])
            assert theirs(f">>{target}<<the cat sees").input_ids == ours


@pytest.mark.parametrize("name", ["ctranslate2", "argos"])
def test_an_export_of_one_pair_adds_the_symbol_itself(name, model, tmp_path):
    out = tmp_path / ("en_fr.argosmodel" if name == "argos" else "out")
    export = export_model(model.choose(("en", "fr")), name, out, lines=TEXTS)
    assert export.certificate is not None
    assert not export.certificate.failures
    import_model(out, tmp_path / "again")
    assert_same_translations(tmp_path / "again", model, (("en", "fr"),))
    plain = Translator.load(tmp_path / "again")  # its only direction needs no choice
    ours = Translator.load(model.path).to("fr")
    assert plain.translate(TEXTS, GREEDY) == ours.translate(TEXTS, GREEDY)


def test_an_import_has_no_other_languages_than_the_model(model, tmp_path):
    export_model(model.choose(("en", "fr")), "ctranslate2", tmp_path / "one", verify=False)
    export_model(model, "huggingface", tmp_path / "all", verify=False)
    for name, languages, reason in (
        ("one", ("en", "de"), "one: translates en-fr, not en-de"),
        ("one", ("de", "fr"), "one: translates en-fr, not de-fr"),
        ("all", ("cs", "pl"), "all: translates en-de, en-fr, de-en, not cs-pl"),
    ):
        with pytest.raises(HeadwayError, match=reason):
            import_model(tmp_path / name, tmp_path / "again", languages)
        assert not (tmp_path / "again").exists()
    import_model(tmp_path / "all", tmp_path / "again", ("en", "fra"))
    again = load_model(tmp_path / "again")
    assert again.languages == ("en", "fr")
    assert again.pairs == (("en", "fr"), ("en", "de"), ("de", "en"))
    (tmp_path / "one" / "headway.json").unlink()  # the symbol shows the target language only
    with pytest.raises(HeadwayError, match="translates de-fr, not de-en"):
        import_model(tmp_path / "one", tmp_path / "other", ("de", "en"))
    import_model(tmp_path / "one", tmp_path / "other", ("de", "fr"))
    assert load_model(tmp_path / "other").pairs == (("de", "fr"),)


def test_ctranslate2_translates_plain_tokens_of_one_pair(model, tmp_path):
    import ctranslate2
    from sentencepiece import SentencePieceProcessor

    export_model(model, "ctranslate2", tmp_path / "all", verify=False)
    export_model(model.choose(("en", "fr")), "ctranslate2", tmp_path / "one", verify=False)
    pieces = SentencePieceProcessor(model_file=str(tmp_path / "one" / "tokenizer.model"))
    whole, one = (ctranslate2.Translator(str(tmp_path / name)) for name in ("all", "one"))
    limits = {"beam_size": 1, "max_decoding_length": 12, "suppress_sequences": [["<pad>"]]}
    differs = False
    for text in TEXTS:
        tokens = pieces.encode(text, out_type=str)
        [plain] = one.translate_batch([tokens], **limits)
        [tagged] = whole.translate_batch([[">>fr<<", *tokens]], **limits)
        [german] = whole.translate_batch([[">>de<<", *tokens]], **limits)
        assert plain.hypotheses == tagged.hypotheses
        differs |= german.hypotheses != tagged.hypotheses
    assert differs


def test_a_package_has_one_pair(model, tmp_path):
    words = ["export", str(model.path), str(tmp_path / "a.argosmodel"), "--to", "argos"]
    with pytest.raises(HeadwayError, match="--pair, one of en-de, en-fr, de-en"):
        dispatch(words)
    with pytest.raises(HeadwayError, match="de-fr was not trained, but en-de, en-fr, de-en"):
        dispatch([*words, "--pair", "de-fr"])
    assert dispatch([*words, "--pair", "en-fr", "--no-verify"]) == 0
    import_model(tmp_path / "a.argosmodel", tmp_path / "again")
    assert Translator.load(tmp_path / "again").languages == ("en", "fr")

"""Training with a sentencepiece model of the user's own, and on text that is split already."""

import io
from pathlib import Path

import pytest
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.ext.exchange.exporting import export_model
from headway.ext.exchange.importing import import_model
from headway.text.prepared import PreparedData
from headway.translation import Translator, load_model
from support.groups import options, write_languages
from support.runs import command, write_corpus

SHORT = {
    "training__max_steps": 2,
    "training__validate_every": 2,
    "training__checkpoint_every": 2,
    "training__average": 1,
}


def own_model(corpus, files, out, **options):
    """Train a sentencepiece model with its own defaults on files of a corpus."""
    model = io.BytesIO()
    lines = [
        line for name in corpus[1:3][files] for line in Path(name).read_text("utf-8").splitlines()
    ]
    SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=60, hard_vocab_limit=False,
        minloglevel=3, **options,
    )  # fmt: skip
    out.write_bytes(model.getvalue())
    return SentencePieceProcessor(model_proto=model.getvalue())


@pytest.fixture
def plain(tmp_path):
    return write_corpus(tmp_path, train=150, valid=7)


def without_size(words):
    at = words.index("--text.vocab-size")
    return words[:at] + words[at + 2 :]


@pytest.mark.parametrize("count", [1, 2])
def test_a_run_has_the_vocabulary_that_the_user_gives(count, plain, tmp_path):
    pytest.importorskip("ctranslate2")
    files = [tmp_path / f"{i}.model" for i in range(count)]
    sides = [slice(0, 2)] if count == 1 else [slice(0, 1), slice(1, 2)]
    theirs = [own_model(plain, side, file) for side, file in zip(sides, files, strict=True)]
    given = ["--vocabulary", *map(str, files)]
    tying = {} if count == 1 else {"model__tying": "target"}
    words = [*without_size(command(tmp_path / "run", plain, **SHORT, **tying)), *given]
    assert dispatch(words) == 0
    assert dispatch(words) == 0  # the same command resumes the run
    model = load_model(tmp_path / "run")
    text = "1 2 3 4"
    [ids] = model.tokenizer.encode_source([text])
    assert model.tokenizer.source_subwords(ids[:-1]) == theirs[0].encode(text, out_type=str)
    assert model.config.text.subwords == "unigram"
    assert model.config.text.vocab_size == model.tokenizer.target_vocab_size
    translation = Translator.load(tmp_path / "run", "cpu").translate(text)
    for form in ("ctranslate2", "huggingface"):  # both ways, without a difference
        out = tmp_path / form
        certificate = export_model(model, form, out, lines=[text, "5 6 7", "0"]).certificate
        assert certificate is not None
        assert not certificate.failures
        import_model(out, tmp_path / f"{form}-back")
        again = Translator.load(tmp_path / f"{form}-back", "cpu")
        assert again.translate(text) == translation
        assert again.tokenizer.encode_source([text]) == [ids]


def test_another_vocabulary_does_not_resume_a_run(plain, tmp_path):
    own_model(plain, slice(0, 2), tmp_path / "own.model")
    own_model(plain, slice(0, 2), tmp_path / "other.model", model_type="bpe")
    words = without_size(command(tmp_path / "run", plain, **SHORT))
    assert dispatch([*words, "--vocabulary", str(tmp_path / "own.model")]) == 0
    with pytest.raises(HeadwayError, match="--vocabulary has other subwords"):
        dispatch([*words, "--vocabulary", str(tmp_path / "other.model")])


def split(corpus):
    """Split each word of a corpus after its first letter, as subword-nmt does."""
    for name in corpus:
        if (path := Path(name)).is_file():
            lines = path.read_text("utf-8").splitlines()
            cut = [
                " ".join(w if len(w) < 2 else f"{w[0]}@@ {w[1:]}" for w in line.split())
                for line in lines
            ]
            path.write_text("".join(f"{line}\n" for line in cut), encoding="utf-8")


def test_text_that_is_split_already_keeps_its_tokens(plain, tmp_path):
    split(plain)
    words = [*command(tmp_path / "run", plain, **SHORT), "--text.subwords", "none"]
    assert dispatch(words) == 0
    tokenizer = load_model(tmp_path / "run").tokenizer
    line = "s@@ ieben n@@ ull e@@ ins"
    [ids] = tokenizer.encode_target([line])
    assert len(ids) == 7
    assert tokenizer.unk not in ids
    assert tokenizer.decode(ids) == line
    assert set(Translator.load(tmp_path / "run", "cpu").translate("1 2").split()) <= {
        token for name in plain[1:3] for token in Path(name).read_text("utf-8").split()
    } | {chr(0x2047)}
    export_model(load_model(tmp_path / "run"), "ctranslate2", tmp_path / "out", verify=False)
    import_model(tmp_path / "out", tmp_path / "back")
    assert load_model(tmp_path / "back").tokenizer.encode_target([line]) == [ids]


def test_text_that_sentencepiece_has_split_is_refused(plain, tmp_path):
    path = Path(plain[1])
    path.write_text(path.read_text("utf-8").replace(" ", " \u2581"), encoding="utf-8")
    with pytest.raises(HeadwayError, match="--vocabulary FILE"):
        dispatch([*command(tmp_path / "run", plain, **SHORT), "--text.subwords", "none"])


def test_a_given_vocabulary_gets_symbols_of_target_languages(tmp_path):
    texts = write_languages(tmp_path / "texts", train=150, valid=7)
    corpus = ["--train", *(str(texts / f"train.{code}") for code in ("en", "de", "fr"))]
    own_model(corpus, slice(0, 3), tmp_path / "own.model")
    words = [*options(texts, "en-de", "en-fr"), "--vocabulary", str(tmp_path / "own.model")]
    words = without_size(command(tmp_path / "run", words, **SHORT))
    assert dispatch(words) == 0
    assert dispatch(words) == 0  # the same command resumes the run
    model = load_model(tmp_path / "run")
    assert model.tokenizer.target_languages == ["de", "fr"]
    prepared = ["prepare", str(tmp_path / "data"), *options(texts, "en-de", "en-fr")]
    assert dispatch([*prepared, "--vocabulary", str(tmp_path / "own.model")]) in (0, None)
    data = PreparedData.open(tmp_path / "data")
    assert data.fingerprint == PreparedData.open(tmp_path / "run" / "data").fingerprint

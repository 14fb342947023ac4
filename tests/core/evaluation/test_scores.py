"""The score sheet equals the output of sacreBLEU, and tokenized text equals published text."""

import gzip
import json
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from headway.errors import HeadwayError
from headway.evaluation import (
    METRICS,
    bleu,
    chrf_by_line,
    comet_score,
    exact_match,
    exact_match_by_kind,
    find_warnings,
    lc_norm_tok,
    moses_tokens,
    pick_metrics,
    score_sheet,
    split_compounds,
)
from headway.evaluation.bootstrap import resample
from headway.evaluation.published_scores import comparable_scores
from headway.text.groups import language_from_name
from support.cases import each_case, own_rows
from support.random_sentences import degrade, sentences

MULTI30K = Path(__file__).parents[3].parent / "shared" / "data" / "multi30k"
SENTENCE = "Der der die DAS Nord-Ost-See alte „Stadt“ dort, hier; Herr's 3,5 z.B. geht oft & schön"
WORDS = SENTENCE.split()
KEYS = [metric.key for metric in METRICS]
RESAMPLES = 100


@pytest.fixture(scope="module")
def references():
    return sentences(WORDS, 37, seed=1)


@pytest.fixture(scope="module")
def hypotheses(references):
    return degrade(WORDS, references, 0.3, seed=2)


def command_line(tmp_path, hypotheses, references, *options):
    """Return the output of sacreBLEU's command, by the name of the metric."""
    for name, lines in (("h", hypotheses), ("r", references)):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", str(tmp_path / "r"), "-i", str(tmp_path / "h")]
    numbers = ["-w", "9", "--confidence", "--confidence-n", str(RESAMPLES)]
    done = subprocess.run(
        [*command, *numbers, "--force", *options], capture_output=True, check=True, text=True
    )
    printed = json.loads(done.stdout)
    return {entry["name"]: entry for entry in (printed if isinstance(printed, list) else [printed])}


def assert_same(ours, theirs):
    assert ours.score == pytest.approx(theirs["score"], abs=1e-8)
    # sacreBLEU adds up in single precision.
    assert (ours.high - ours.low) / 2 == pytest.approx(theirs["confidence_var"], abs=1e-4)


def test_raw_scores_intervals_and_signatures_equal_those_of_the_sacrebleu_command(
    tmp_path, hypotheses, references
):
    sheet = score_sheet(
        hypotheses, references, language="de", metrics=METRICS[:4], resamples=RESAMPLES
    )
    theirs = command_line(tmp_path, hypotheses, references, "-m", "bleu", "chrf", "ter")
    for key, name in (("bleu", "BLEU"), ("chrf", "chrF2"), ("ter", "TER")):
        assert_same(sheet[key], theirs[name])
        assert sheet[key].signature == theirs[name]["signature"]
    lowered = command_line(tmp_path, hypotheses, references, "-lc")["BLEU"]
    assert_same(sheet["bleu_lc"], lowered)
    assert sheet["bleu_lc"].signature == lowered["signature"]
    assert sheet["bleu"].score != sheet["bleu_lc"].score


@pytest.mark.parametrize(
    ("key", "form"),
    [
        ("bleu_moses", lambda lines: moses_tokens(lines, "de")),
        ("bleu_moses_split", lambda lines: [*map(split_compounds, moses_tokens(lines, "de"))]),
        ("bleu_lc_norm_tok", lambda lines: lc_norm_tok(lines, "de")),
    ],
)
def test_tokenized_scores_equal_those_of_the_sacrebleu_command_on_tokenized_files(
    tmp_path, hypotheses, references, key, form
):
    metrics = pick_metrics([key])
    sheet = score_sheet(hypotheses, references, language="de", metrics=metrics, resamples=RESAMPLES)
    ours = sheet[key]
    options = ("-tok", "none", "--smooth-method", "none")
    theirs = command_line(tmp_path, form(hypotheses), form(references), *options)["BLEU"]
    assert_same(ours, theirs)
    assert "tok:none" not in ours.signature
    assert "sacremoses:" in ours.signature


def test_lc_norm_tok_of_the_raw_file_is_the_published_multi30k_text():
    for language in ("de", "en"):
        raw, published = (
            MULTI30K / f"test_2016_flickr.{middle}{language}.gz" for middle in ("", "lc.norm.tok.")
        )
        if not raw.exists() or not published.exists():
            pytest.skip("Multi30k is not beside the repository")
        lines, expected = (
            gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")[:-1]
            for path in (raw, published)
        )
        ours = lc_norm_tok(lines, language)
        assert len(ours) == 1000
        assert ours == expected
        if language == "de":
            assert sum(len(line.split()) for line in ours) == 12103


def test_compounds_are_split_as_in_the_paper():
    for line, split in own_rows():
        assert split_compounds(line) == split


def test_the_papers_bleu_ignores_how_quotes_and_dots_are_typed():
    hypothesis, reference = ['Er sagte: "Das ist\'s ..."'], ["Er sagte: „Das ist’s …“"]
    of = {m.key: m.statistics(hypothesis, reference, "de").total() for m in METRICS}
    assert of["bleu_paper"] == pytest.approx(100)
    assert of["bleu_moses_split"] < 50


def test_resampling_in_blocks_equals_resampling_at_once(monkeypatch):
    counts = np.arange(13 * 3, dtype=np.float64).reshape(13, 3) ** 2
    whole = resample(counts, 47, 5)
    monkeypatch.setattr("headway.evaluation.bootstrap._MOST_DRAWS", 13 * 11)
    assert np.array_equal(resample(counts, 47, 5), whole)
    drawn = np.random.default_rng(5).choice(13, size=(47, 13))
    assert np.array_equal(whole, counts[drawn].sum(1))


def test_counting_in_blocks_equals_counting_at_once(monkeypatch, hypotheses, references):
    for metric in (METRICS[2], METRICS[-1]):
        whole = metric.statistics(hypotheses, references, "de").counts
        with monkeypatch.context() as patched:
            patched.setattr("headway.evaluation.metrics._BLOCK", 11)
            blocks = metric.statistics(hypotheses, references, "de").counts
        assert np.array_equal(whole, blocks)


def test_chrf_of_a_line_equals_sacrebleus_sentence_score(hypotheses, references):
    from sacrebleu import sentence_chrf

    theirs = [sentence_chrf(h, [r]).score for h, r in zip(hypotheses, references, strict=True)]
    assert chrf_by_line(hypotheses, references) == pytest.approx(theirs)


def test_languages_without_spaces_are_scored_by_character():
    hypothesis, reference = ["我喜欢看书和音乐。"], ["我喜欢看书和电影。"]
    assert bleu(hypothesis, reference, "zh") > 40
    for code in ("zh-CN", "zh_Hans", "ZH-Hant"):
        assert bleu(hypothesis, reference, code) == bleu(hypothesis, reference, "zh")
    for code in ("lo-LA", "km", "my"):
        assert bleu(hypothesis, reference, code) == bleu(hypothesis, reference, "th") > 40
    assert bleu(hypothesis, reference, "de") < 1


@each_case
def test_words_are_found_by_sacrebleus_packages_and_the_sheet_names_them_if_they_are_missing(
    monkeypatch, code, module, without
):
    def bleu_of(language):
        return score_sheet(["a b c d"], ["a b c e"], None, language, METRICS[:1], 40)["bleu"]

    class Missing:
        def __init__(self):
            raise RuntimeError("pip install")

    class Present(TokenizerZh):
        def signature(self):
            return "mecab"

    tokenizer = f"sacrebleu.tokenizers.{module}"
    monkeypatch.setattr(tokenizer, Missing)
    score = bleu_of(f"{code}-X")
    assert without in score.signature
    assert (
        f'published ones are by words, which need pip install "sacrebleu[{code}]"' in score.beside
    )
    monkeypatch.setattr(tokenizer, Present)
    score = bleu_of(f"{code}-X")
    assert "tok:mecab" in score.signature
    assert "pip" not in score.beside + bleu_of("zh").beside


def test_published_scores_are_named_only_for_their_own_text():
    for key, language, lines, said, is_said in own_rows():
        assert (said in comparable_scores(key, language, lines)) == is_said
    for key in KEYS:
        assert comparable_scores(key, "tlh", 1)
        assert "41.8" not in comparable_scores(key, "fr", 3003)


# Warnings: each finds its fault, and raw text raises none.


def test_raw_text_raises_no_warning(hypotheses, references):
    french = ["Où est-il ?  Là : « ici » !", "L'œuvre n'est pas là ; 3,5 % -- #tag.", "..."]
    sources = [f"Source {n}" for n in range(len(references))]
    assert find_warnings(hypotheses, references, sources) == []
    assert find_warnings(french, french) == []
    questions = [*["Was ist das?"] * 9, "Version 2 ."]
    assert find_warnings(questions, questions) == []


@pytest.mark.parametrize(
    "metric", [metric for metric in METRICS if metric.kind == "bleu"], ids=lambda metric: metric.key
)
def test_the_country_of_a_language_changes_no_score(metric):
    hypotheses = ["L'homme a dit « oui » à l'été.", "Il n'y a pas d'eau, c'est 3 h 30."]
    references = ["L'homme dit « oui » à l'été !", "Il n'y a plus d'eau, c'est 3 h 30."]
    plain = metric.statistics(hypotheses, references, "fr")
    for language in ("fr-CA", "FR", "fr_Latn"):
        other = metric.statistics(hypotheses, references, language)
        assert (other.total(), other.signature) == (plain.total(), plain.signature)


def test_the_language_is_read_from_the_file_name():
    expected = {
        "t.de": "de", "a/b.c.FR.gz": "fr", "x.en.zst": "en", "x.txt": None, "de": None,
        "t.zh-CN": "zh-CN", "t.PT-BR.xz": "pt-BR", "t.out": None,
    }  # fmt: skip
    assert {name: language_from_name(name) for name in expected} == expected
    assert language_from_name("out.v2") is None


def test_exact_match_counts_lines_that_equal_the_reference():
    hypotheses = ["ein Haus", "zwei Häuser ", "drei", "vier", "fünf"]
    references = ["ein Haus", "zwei Häuser", "Drei", "vier", "sechs"]
    assert exact_match(hypotheses, references) == pytest.approx(3 / 5)
    kinds = ["noun", "noun", "number", "number", "number"]
    of_kind = exact_match_by_kind(hypotheses, references, kinds)
    assert of_kind == {"noun": 1, "number": pytest.approx(1 / 3)}


# A stand-in for the command of COMET shows its input and what is read from its output.


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    def install(body):
        command = tmp_path / "bin" / "comet-score"
        command.parent.mkdir(exist_ok=True)
        command.write_text(f"#!{sys.executable}\nimport sys\n{body}", encoding="utf-8")
        command.chmod(command.stat().st_mode | stat.S_IXUSR)
        return command

    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return install


def test_comet_is_read_from_the_output_of_its_command(stand_in):
    stand_in(
        "option = dict(zip(sys.argv[1::2], sys.argv[2::2]))\n"
        "assert option['--model'] == 'some/model' and option['--gpus'] == '0'\n"
        "lines = {k: open(option[k], encoding='utf-8').read().split('\\n') for k in ('-s', '-t', '-r')}\n"
        "assert lines['-r'] == ['x\\u2028y', 'z w', ''], lines\n"
        "assert lines['-s'] == ['a', 'b', ''] and lines['-t'] == ['c', '', '']\n"
        "print('Loading something')\n"
        "print(option['-t'] + '\\tSegment 0\\tscore: 0.5000')\n"
        "print(option['-t'] + '\\tSegment 1\\tscore: -0.2500')\n"
        "print(option['-t'] + '\\tscore: 0.1250')\n"
    )
    score = comet_score(["a", "b"], ["c", ""], ["x\u2028y", "z\rw"], model="some/model", gpus=0)
    assert (score.score, score.line_scores) == (0.125, (0.5, -0.25))


def test_a_failure_of_comet_gives_a_message_of_one_line(stand_in):
    with pytest.raises(HeadwayError, match="comet-score is not installed") as caught:
        comet_score(["a"], ["b"], ["c"])
    assert "\n" not in str(caught.value)
    stand_in("print('one\\ntwo: no such model', file=sys.stderr); sys.exit(3)")
    with pytest.raises(HeadwayError, match=r"exit status 3: two: no such model$"):
        comet_score(["a"], ["b"], ["c"])
    of_two_lines = (
        "print('h\\tSegment 0\\tscore: 0.5\\nh\\tSegment 1\\tscore: 0.5\\nh\\tscore: 0.5')"
    )
    for unreadable in ("print('hello')", of_two_lines):
        stand_in(unreadable)
        with pytest.raises(HeadwayError, match="contains no score"):
            comet_score(["a"], ["b"], ["c"])

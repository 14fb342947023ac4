import json
import os
import re
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from headway.cli.main import main
from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.text import Damaged, Pair, read_pairs
from support.bounds import bounded
from support.damage import Case, Readable, Refused, damaged_corpora
from support.range_cleaning import clean


class Hang(Exception):
    pass


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def number(text: str) -> str:
    found = re.match(r"<(\d+)> ", text)
    assert found, text
    return found[1]


def read(case: Case, strict: bool) -> tuple[list[Pair | Damaged], HeadwayError | None]:
    """Return the pairs that were read, and the error that ended the reading."""
    delivered: list[Pair | Damaged] = []
    pairs = (
        read_pairs(case.paths, case.languages)
        if strict
        else read_pairs(case.paths, case.languages, strict=False)
    )
    try:
        delivered.extend(pairs)
    except HeadwayError as error:
        return delivered, error
    return delivered, None


def open_files(directory: Path) -> list[str]:
    """Return the files below a directory that this process has open, where /proc lists them."""
    found = []
    for link in Path("/proc/self/fd").glob("*"):
        with suppress(OSError):
            found.append(str(link.readlink()))
    return [name for name in found if name.startswith(f"{directory}/")]


def assert_names(error: HeadwayError | None, file: Path, line: int | None) -> None:
    assert error is not None
    message = str(error)
    assert "\n" not in message
    assert str(file) in message
    if line is not None:
        assert re.search(re.escape(f"{file}:") + (f"{line}: " if line else r"\d+: "), message)


def assert_readable(case: Case, expected: Readable) -> None:
    delivered, error = read(case, strict=False)
    assert error is None
    assert {p.line: p[:2] for p in delivered if isinstance(p, Pair)} == expected.pairs
    damaged = [p for p in delivered if isinstance(p, Damaged)]
    assert tuple(p.line for p in damaged) == expected.unreadable
    assert all(p.file == str(case.faulty) for p in damaged)

    # Without the limit of the ratio of lengths: both sides are random words, so that one may be much longer.
    kept, _, report = clean(delivered, TextConfig(max_ratio=0.0))
    assert all(number(pair.source) == number(pair.target) for pair in kept)
    dropped = {line for found in report.dropped.values() for line in found.lines}
    assert dropped == {*expected.unreadable, *expected.unfit}
    assert {pair.line for pair in kept} == expected.pairs.keys() - dropped

    delivered, error = read(case, strict=True)
    assert not open_files(case.faulty.parent)  # while the error, with its traceback, exists
    if expected.unreadable:
        assert_names(error, case.faulty, expected.unreadable[0])
    else:
        assert error is None
        assert {pair.line: pair[:2] for pair in delivered} == expected.pairs


def assert_refused(case: Case, expected: Refused) -> None:
    for strict in (True, False):
        with bounded():
            delivered, error = read(case, strict)
        assert not open_files(case.faulty.parent)
        assert_names(error, case.faulty, expected.line)
        assert all(word in str(error) for word in expected.words)
        assert expected.secret not in str(error)
        if not case.name.startswith("unequal"):  # only the end of the file shows the shift
            pairs = [pair for pair in delivered if isinstance(pair, Pair)]
            assert all(number(pair.source) == number(pair.target) for pair in pairs)


def campaign(directory: Path, seed: int, rounds: int) -> Counter[str]:
    """Check every damaged corpus; return the number of corpora of each kind."""
    kinds: Counter[str] = Counter()
    wrong = []
    for case in damaged_corpora(directory, seed, rounds):
        kinds[case.name.rsplit("-", 1)[0]] += 1
        try:
            with time_limit(5):
                if isinstance(case.expectation, Readable):
                    assert_readable(case, case.expectation)
                else:
                    assert_refused(case, case.expectation)
        except Exception as fault:
            wrong.append(f"{case.name}: {type(fault).__name__}: {fault}")
    assert not wrong, "\n".join(wrong)
    return kinds


@pytest.mark.slow
def test_the_command_names_the_damage_and_leaves_no_partial_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    valid = [tmp_path / f"valid.{code}" for code in ("en", "de")]
    for path in valid:
        path.write_text("validation\n")
    for case in damaged_corpora(tmp_path, seed=3, rounds=1):
        out = tmp_path / f"{case.name}.out"
        files = ("--train", *map(str, case.paths), "--valid", *map(str, valid))
        text = ("--languages", "en", "de", "--text.vocab-size", "335")
        with pytest.raises(SystemExit) as ended:  # and nothing else
            main(["prepare", str(out), *files, *text])
        said = capsys.readouterr().err
        if isinstance(case.expectation, Readable) and case.expectation.pairs:
            assert ended.value.code == 0, f"{case.name}: {said}"
            report = json.loads((out / "report.json").read_text())
            unfit = {*case.expectation.unreadable, *case.expectation.unfit}
            assert report["kept"] == len(case.expectation.pairs.keys() - unfit)
            assert {n for rule in report["dropped"].values() for n in rule["lines"]} == unfit
        else:
            assert ended.value.code == 1
            assert len(said.splitlines()) == 1
            assert str(case.faulty) in said
            assert not out.exists()


@pytest.mark.slow
def test_damaged_corpora_are_prepared_or_rejected_in_one_line(tmp_path: Path) -> None:
    """ROUNDS=44 makes more than a thousand corpora."""
    rounds = int(os.environ.get("ROUNDS", "9"))
    kinds = campaign(tmp_path, seed=2, rounds=rounds)
    assert kinds.total() >= 23 * rounds
    assert min(kinds.values()) >= rounds

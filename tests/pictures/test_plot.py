"""Training curves show the points that a run wrote, also while it goes on writing."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.pictures.curves import SERIES, Curves, label_runs, thin
from headway.pictures.plotting import plot
from headway.pictures.terminal import DOTS, MARGIN, chart, screen


def line(**values: Any) -> str:
    return json.dumps(values) + "\n"


def write_run(path: Path, steps: int, *, finished: bool = False, factor: float = 1.0) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    metrics = timings = ""
    for step in range(1, steps + 1):
        loss = None if step == 3 else factor * 9 / step
        metrics += line(event="step", step=step, loss=loss, rate=step / 1000)
        if step % 4 == 0:
            metrics += line(event="validation", step=step, averaged=1, perplexity=50 / step,
                            bleu=step * factor)  # fmt: skip
            timings += line(event="steps", step=step, tokens_per_second=100.0 * step)
            timings += line(event="validation", step=step, seconds=1.5)
            timings += line(event="checkpoint", step=step, seconds=0.1)
    metrics += line(event="validation", step=steps, averaged=5, perplexity=1.0, bleu=77.0)
    (path / "metrics.jsonl").write_text(metrics, encoding="utf-8")
    (path / "timings.jsonl").write_text(timings, encoding="utf-8")
    (path / "run.json").write_text(json.dumps({"format": 1, "finished": finished}))
    return path


def test_points_are_those_of_the_logs(tmp_path: Path) -> None:
    run = Curves(write_run(tmp_path / "a", 9))
    assert run.points["loss"] == [(s, 9 / s) for s in range(1, 10) if s != 3]
    assert run.points["rate"] == [(s, s / 1000) for s in range(1, 10)]
    assert run.points["bleu"] == [(4, 4), (8, 8)]
    assert run.points["perplexity"] == [(4, 12.5), (8, 6.25)]
    assert run.points["speed"] == [(4, 400), (8, 800)]
    assert run.averaged["bleu"] == [(9, 77)]
    assert not run.finished
    assert run.step == 9


def test_a_growing_run_is_followed_and_a_resumed_one_read_again(tmp_path: Path) -> None:
    path = write_run(tmp_path / "a", 5)
    run = Curves(path)
    with (path / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"event": "step", "step": 6, "lo')
        file.flush()
        run.update()
        assert run.step == 5  # half a line is no line
        file.write('ss": 0.5, "rate": 0.25}\n')
    run.update()
    assert run.points["loss"][-1] == (6, 0.5)
    assert len(run.points["rate"]) == 6
    # Resumed from an earlier checkpoint, a run has cut its log.
    write_run(path, 4, finished=True)
    run.update()
    assert run.points["rate"] == [(s, s / 1000) for s in range(1, 5)]
    assert run.finished


def test_what_is_no_run_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(HeadwayError, match=r"no metrics\.jsonl: give the directory of a training"):
        Curves(tmp_path)
    path = write_run(tmp_path / "a", 2)
    for damage in ("nonsense\n", "[1]\n", '{"event": "step", "step": 7}\n'):
        (path / "metrics.jsonl").write_text(line(event="other", step=1) + damage)
        with pytest.raises(HeadwayError, match=r"metrics\.jsonl: damaged at byte 30"):
            Curves(path)


def test_thinning_keeps_means() -> None:
    points = [(float(i), float(i * i)) for i in range(1001)]
    thinned = thin(points, 100)
    assert len(thinned) <= 100
    assert thin(points[:100], 100) == points[:100]
    assert thin([], 5) == []
    sizes = [11] * 91
    assert sum(y * n for (_, y), n in zip(thinned, sizes, strict=True)) == pytest.approx(
        sum(y for _, y in points)
    )


def test_runs_of_one_name_go_by_their_paths(tmp_path: Path) -> None:
    paths = [write_run(tmp_path / name, 2) for name in ("x/a", "y/a", "b")]
    assert label_runs([Curves(path) for path in paths]) == [str(paths[0]), str(paths[1]), "b"]


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_the_figure_has_every_series_of_every_run(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    runs = [Curves(write_run(tmp_path / n, 9, factor=f)) for n, f in (("one", 1.0), ("two", 2.0))]
    files = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for file in files:
        plot(runs, file)
    assert files[0].read_bytes() == files[1].read_bytes()
    if suffix == ".svg":
        root = ElementTree.fromstring(files[0].read_text(encoding="utf-8"))
        texts = "\n".join(element.text or "" for element in root.iter())
        assert all(title in texts for title in SERIES.values())
        assert "one: 9 steps, best BLEU 77.00" in texts
        assert "two: 9 steps" in texts


def test_the_command_writes_and_watches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path = write_run(tmp_path / "one", 9)
    dispatch(["plot", str(path), "--out", str(tmp_path / "a.png"), "--live"])
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    drawn = capsys.readouterr().out
    assert "one  step 9  loss 1.000  perplexity 6.25  BLEU 8.00  tokens/s 800" in drawn
    assert all(SERIES[name] in drawn for name in ("loss", "perplexity", "bleu"))
    for words, message in (
        ([], "--out FILE, or --live"),
        (["--live", "--every", "0"], "--every 0"),
    ):
        with pytest.raises(SystemExit) as exit_:
            dispatch(["plot", str(path), *words])
        assert exit_.value.code == 2
        assert message in capsys.readouterr().err
    with pytest.raises(HeadwayError, match="pictures end in"):
        dispatch(["plot", str(path), "--out", "a.gif"])


def dots(rows: list[list[tuple[str, int | None]]], owner: int) -> set[tuple[int, int]]:
    """Where a chart has dots of a line, in dots from the top left."""
    found = set()
    for y, row in enumerate(rows):
        assert len(row[0][0]) == MARGIN
        for x, (character, whose) in enumerate(row[1:]):
            for i in range(2):
                for j in range(4):
                    if whose == owner and ord(character) - 0x2800 & DOTS[i][j]:
                        found.add((2 * x + i, 4 * y + j))
    return found


def test_a_chart_draws_lines_where_the_points_are() -> None:
    columns, rows = 10, 3
    falling = [(0.0, 1.0), (100.0, 0.0)]
    drawn = dots(chart([falling], columns, rows, 100), 0)
    assert {(0, 0), (19, 11)} <= drawn
    assert len(drawn) == 20  # one in each column: no gap and nothing beside it
    assert all(abs(y - x * 11 / 19) <= 0.5 for x, y in drawn)
    flat, late = [(0.0, 1.0), (50.0, 1.0)], [(50.0, 0.0), (100.0, 0.0)]
    two = chart([flat, late], columns, rows, 100)
    assert {y for _, y in dots(two, 0)} == {0}
    assert {y for _, y in dots(two, 1)} == {11}
    assert max(x for x, _ in dots(two, 0)) in (9, 10)
    assert two[0][0][0].strip() == "1"
    assert two[-1][0][0].strip() == "0"
    assert dots(chart([[(7.0, 3.0)]], columns, rows, 7), 0) == {(19, 0)}
    assert "nothing yet" in chart([[]], columns, rows, 0)[0][0][0]


def test_a_screen_fits_its_terminal(tmp_path: Path) -> None:
    runs = [Curves(write_run(tmp_path / name, 9)) for name in ("one", "two")]
    for width, height in ((60, 20), (133, 47)):
        lines = screen(runs, width, height).plain.splitlines()
        assert len(lines) <= height
        assert all(len(text) <= width for text in lines[len(runs) :])

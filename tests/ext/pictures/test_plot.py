"""Training curves show the points that a run has logged, even before the run has finished."""

import json
from xml.etree import ElementTree

import pytest

from headway.cli.main import dispatch
from headway.config import Config, ModelConfig
from headway.errors import HeadwayError, UsageError
from headway.ext.pictures.curves import SERIES, read_curves
from headway.ext.pictures.plotting import _thin, plot
from headway.translation import write_config


def line(**values):
    return json.dumps(values) + "\n"


def write_run(path, steps, *, factor=1.0):
    path.mkdir(parents=True, exist_ok=True)
    metrics = timings = ""
    for step in range(1, steps + 1):
        loss = None if step == 3 else factor * 9 / step
        metrics += line(event="step", step=step, loss=loss, rate=step / 1000)
        if step % 4 == 0:
            metrics += line(event="validation", step=step, averaged=1, perplexity=50 / step,
                            bleu=step * factor, accuracy=0.0)  # fmt: skip
            timings += line(event="steps", step=step, tokens_per_second=100.0 * step)
            timings += line(event="validation", step=step, seconds=1.5)
            timings += line(event="checkpoint", step=step, seconds=0.1)
    metrics += line(
        event="validation", step=steps, averaged=5, perplexity=1.0, bleu=77.0, accuracy=0.0
    )
    (path / "metrics.jsonl").write_text(metrics, encoding="utf-8")
    (path / "timings.jsonl").write_text(timings, encoding="utf-8")
    write_config(path, Config(), ("en", "de"))
    return path


def test_points_are_those_of_the_logs(tmp_path):
    run = read_curves(write_run(tmp_path / "a", 9))
    assert run.points["loss"] == [(s, 9 / s) for s in range(1, 10) if s != 3]
    assert run.points["rate"] == [(s, s / 1000) for s in range(1, 10)]
    assert run.points["bleu"] == [(4, 4), (8, 8)]
    assert run.points["perplexity"] == [(4, 12.5), (8, 6.25)]
    assert run.points["speed"] == [(4, 400), (8, 800)]
    assert run.averaged["bleu"] == [(9, 77)]
    assert run.step == 9


def test_a_run_can_be_read_while_it_trains(tmp_path):
    path = write_run(tmp_path / "a", 5)
    with (path / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"event": "step", "step": 6, "lo')
        file.flush()
        assert read_curves(path).step == 5  # An incomplete line does not count.
        file.write('ss": 0.5, "rate": 0.25}\n')
    run = read_curves(path)
    assert run.points["loss"][-1] == (6, 0.5)
    assert len(run.points["rate"]) == 6


def test_a_missing_or_damaged_log_is_rejected(tmp_path):
    with pytest.raises(HeadwayError, match=r"no metrics\.jsonl: give the directory of a training"):
        read_curves(tmp_path)
    path = write_run(tmp_path / "a", 2)
    for damage in (
        "nonsense\n", "[1]\n", '{"event": "step", "step": 7}\n',
        '{"event": "step", "step": 1e400, "loss": 1, "rate": 1}\n',
    ):  # fmt: skip
        (path / "metrics.jsonl").write_text(line(event="other", step=1) + damage)
        with pytest.raises(HeadwayError, match=r"metrics\.jsonl:2: damaged: not a line of a run"):
            read_curves(path)


@pytest.mark.parametrize(
    ("kind", "bleu", "accuracy"),
    [("translator", [(1, 0)], []), ("classifier", [], [(1, 8)]), ("language-model", [], [])],
)
def test_each_kind_of_model_has_its_own_measure(tmp_path, kind, bleu, accuracy):
    """The log has 0 for the others; a translator that has learned nothing yet has a BLEU of 0, too."""
    (tmp_path / "metrics.jsonl").write_text(
        line(event="step", step=1, loss=2.0, rate=0.1)
        + line(event="validation", step=1, perplexity=7.0, bleu=0.0, accuracy=8.0)
    )
    write_config(tmp_path, Config(model=ModelConfig(kind=kind)), ("en", "de"))
    run = read_curves(tmp_path)
    assert run.points["perplexity"] == [(1, 7)]
    assert (run.points["bleu"], run.points["accuracy"]) == (bleu, accuracy)


def test_a_long_curve_is_drawn_by_means_of_neighbors():
    points = [(float(x), x**0.5) for x in range(1101)]
    drawn = _thin(points)
    assert len(drawn) == 367
    assert drawn[1] == pytest.approx([4, (3**0.5 + 2 + 5**0.5) / 3])
    assert _thin([]).shape == (0, 2)


@pytest.mark.slow
def test_the_figure_has_every_series_of_every_run_by_its_name(tmp_path):
    pytest.importorskip("matplotlib")
    names = ["_run", "a$b$c", r"x$\foo$"]
    runs = [write_run(tmp_path / name, 9) for name in names]
    for name in ("a.svg", "b.svg"):
        plot(runs, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    root = ElementTree.fromstring((tmp_path / "a.svg").read_text(encoding="utf-8"))
    texts = [element.text or "" for element in root.iter()]
    whole = "\n".join(texts)
    assert [name for name, found in SERIES.items() if found.heading not in whole] == ["accuracy"]
    for name in names:
        assert f"{name}: 9 steps, best BLEU 77.00" in texts
    assert texts.count("average of checkpoints") == 1


@pytest.mark.slow
def test_the_command_writes_the_figure(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    path = write_run(tmp_path / "one", 9)
    dispatch(["plot", str(path), "--out", str(tmp_path / "a.png")])
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    dispatch(["plot", str(path)])
    captured = capsys.readouterr()
    assert captured.err == "wrote curves.svg\n"
    assert not captured.out
    ElementTree.fromstring((tmp_path / "curves.svg").read_text(encoding="utf-8"))
    with pytest.raises(UsageError, match="must end in"):
        dispatch(["plot", str(path), "--out", "a.gif"])

"""Training curves show the points that a run has logged, even before the run has finished."""

import json
from xml.etree import ElementTree

import pytest

from headway.cli.main import dispatch
from headway.errors import HeadwayError, UsageError
from headway.ext.pictures.curves import SERIES, Curves
from headway.ext.pictures.plotting import plot


def line(**values):
    return json.dumps(values) + "\n"


def write_run(path, steps, *, finished=False, factor=1.0):
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


def test_points_are_those_of_the_logs(tmp_path):
    run = Curves(write_run(tmp_path / "a", 9))
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
        assert Curves(path).step == 5  # An incomplete line does not count.
        file.write('ss": 0.5, "rate": 0.25}\n')
    run = Curves(path)
    assert run.points["loss"][-1] == (6, 0.5)
    assert len(run.points["rate"]) == 6


def test_a_missing_or_damaged_log_is_rejected(tmp_path):
    with pytest.raises(HeadwayError, match=r"no metrics\.jsonl: give the directory of a training"):
        Curves(tmp_path)
    path = write_run(tmp_path / "a", 2)
    for damage in (
        "nonsense\n", "[1]\n", '{"event": "step", "step": 7}\n',
        '{"event": "step", "step": 1e400, "loss": 1, "rate": 1}\n',
    ):  # fmt: skip
        (path / "metrics.jsonl").write_text(line(event="other", step=1) + damage)
        with pytest.raises(HeadwayError, match=r"metrics\.jsonl: damaged at byte 30"):
            Curves(path)


def test_a_model_that_is_no_translator_has_no_bleu(tmp_path):
    path = tmp_path / "lm"
    path.mkdir()
    (path / "metrics.jsonl").write_text(
        line(event="step", step=1, loss=2.0, rate=0.1)
        + line(event="validation", step=1, perplexity=7.0, bleu=0.0)
    )
    assert Curves(path).points["bleu"] == [(1, 0)]  # a translator that has learned nothing yet
    (path / "config.json").write_text('{"settings": {"model": {"kind": "language-model"}}}')
    run = Curves(path)
    assert run.points["perplexity"] == [(1, 7)]
    assert run.points["bleu"] == run.points["accuracy"] == []


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
    assert [name for name, title in SERIES.items() if title not in whole] == ["accuracy"]
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

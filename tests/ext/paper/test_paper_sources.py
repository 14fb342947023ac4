"""What a result depends on: other code, other data and another device give another one."""

import pytest

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.ext.paper import reproduction
from headway.ext.paper.experiments import (
    classification,
    table4,
)
from headway.ext.paper.experiments.table4_treebank import make_treebank
from headway.ext.paper.reproduction import reproduce
from headway.ext.paper.results import Table
from headway.ext.paper.running import sources, task
from headway.ext.paper.running.bitext import Bitext
from headway.ext.paper.running.labeled_texts import LabeledTexts
from headway.ext.paper.running.study import Study
from support.cases import each_case, read_rows

FILES = read_rows(__file__, "FILES")


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "pack"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(sources, "PACKAGE", folder)
    return folder


def test_all_that_a_module_imports_is_found_and_nothing_else(package):
    def found(*modules):
        return {path.relative_to(package).as_posix() for path in sources.sources(*modules)}

    room = {"room/__init__.py", "room/part.py", "room/inner.py", "room/native/code.cpp"}
    assert found("pack.used") == {"__init__.py", "used.py", "lazily.py", *room}
    assert found("pack.room.inner") == {"__init__.py", *room}  # the package of a module runs, too
    assert found("pack.typed") == {"__init__.py", "typed.py", "other.py"}
    assert found("torch.nn", "pack.nowhere") == set()


@pytest.mark.parametrize("name", ["used.py", "room/native/code.cpp"])
def test_the_version_follows_each_of_the_sources(name, package):
    first = version_in_another_process("pack.used")
    (package / "unused.py").write_text("x = 1")
    (package / name).write_text(f"{FILES[name]}x = 1\n")
    version = sources.source_version.__wrapped__  # without its cache
    assert version("pack.used") == first  # what is edited later is not what this process runs
    assert version_in_another_process("pack.used") != first
    (package / name).write_text(FILES[name])
    assert version_in_another_process("pack.used") == first


def version_in_another_process(module):
    sources._read.cache_clear()
    return str(sources.source_version.__wrapped__(module))


@each_case
def test_results_follow_all_that_measures_and_judges(experiment, parts):
    found = sources.sources(f"headway.ext.paper.experiments.{experiment}")
    names = {path.relative_to(sources.PACKAGE).as_posix() for path in found}
    assert names >= set(parts)
    assert not any(name.startswith(("ext/server/", "cli/", "ext/best/")) for name in names)


def test_data_are_prepared_again_by_other_code(tmp_path, monkeypatch):
    pairs = tuple((f"a b {c}", f"d e {c}") for c in "fghijklmnopqrstuvwxyz")
    text = Bitext("text", pairs[:-1], pairs[-1:], pairs[-1:], ("en", "de"))
    labeled = LabeledTexts("labels", classification.make_tasks(Study(tmp_path, "toy"))[0].examples)
    trees = table4.find_treebank(Study(tmp_path, "toy"))
    for each, config in (
        (text, TextConfig(vocab_size=300)),
        (labeled, TextConfig(vocab_size=400)),
        (trees, TextConfig(vocab_size=340)),
    ):
        first, test = each.prepare(tmp_path / "data", config)
        for path in test:  # it is written again
            path.unlink()
        assert each.prepare(tmp_path / "data", config) == (first, test)
        assert all(path.is_file() for path in test)
        with monkeypatch.context() as patch:
            patch.setattr(task, "code_version", lambda *modules: "another")
            assert each.prepare(tmp_path / "data", config)[0] != first


def test_a_result_is_of_the_code_and_files_that_it_began_with(tmp_path, monkeypatch):
    given = tmp_path / "given"
    given.write_text("first")

    def count(work):
        monkeypatch.setattr(reproduction, "code_version", lambda *modules: "another")
        given.write_text("second")
        return [Table("x", (), ())]

    monkeypatch.setattr(table4, "count", count)
    monkeypatch.setattr(table4, "plan", lambda work: [])
    monkeypatch.setattr(table4, "given_files", lambda work: [given])
    work = Study(tmp_path, "toy")
    key = reproduction._key("table4", work)
    result = reproduce("table4", work)
    assert result.settings["work"] == key != reproduction._key("table4", work)


def test_a_result_follows_the_treebank(tmp_path, monkeypatch):
    monkeypatch.setattr(table4, "plan", lambda work: [])

    def shown():
        lines = []
        reproduce("table4", Study(tmp_path, "toy", show=lines.append))
        return lines[0]

    assert shown().startswith("table4: English")
    folder = tmp_path / "treebank"
    folder.mkdir()
    with pytest.raises(
        HeadwayError, match=r"has no train\.tree and no valid\.tree and no test\.tree"
    ):
        shown()
    for name in ("train", "valid", "test"):
        (folder / f"{name}.tree").write_text("".join(f"{t}\n" for t in make_treebank(9, 4)))
    assert shown().startswith("table4: done again")
    assert shown() == "table4: done before"
    (folder / "valid.tree").write_text("(S (NN a))\n")
    assert shown().startswith("table4: done again")
    (folder / "valid.tree").rename(folder / "dev.tree")
    with pytest.raises(HeadwayError, match=r"treebank: has no valid\.tree:"):
        shown()

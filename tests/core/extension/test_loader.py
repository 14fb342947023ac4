"""Extensions are found by their entry points, and each mistake in one is a line that names it."""

import importlib.metadata
import json
import shutil
import sys

import pytest

from headway import extension
from headway.cli.arguments import parse
from headway.cli.verbs import list_groups, load_verb
from headway.errors import HeadwayError, UsageError
from headway.extension import (
    GROUP,
    collect,
    find_installed,
    identify_arithmetic,
    list_sidecars,
    load_all,
    load_extensions,
    load_first,
    make_operations,
    name_extensions,
    prepare_device,
)
from support.cases import each_case
from support.extensions import forget_extensions

HEAD = "from headway.extension import Extension, Option, Verb\n"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that installs a package of one module: ``install("mine", "Extension('mine', '1')")``."""

    def add(name, declared, more=""):
        (tmp_path / f"of_{name}.py").write_text(f"{HEAD}{more}\nextension = {declared}\n")
        info = tmp_path / f"Of_{name}-1.0.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_text(
            f"[console_scripts]\nheadway-{name} = of_{name}:main\n\n[{GROUP}]\n{name} = of_{name}:extension\n"
        )
        (info / "METADATA").write_text(f"Name: Of_{name}\nVersion: 1.0\n")

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv(extension.CHOICE, raising=False)
    forget_extensions()
    yield add
    forget_extensions()
    for module in [name for name in sys.modules if name.startswith("of_")]:
        del sys.modules[module]


def test_it_finds_what_the_standard_library_finds(install):
    install("one", "Extension('one', '1')")
    found = {(entry.name, entry.target) for entry in find_installed().values()}
    expected = importlib.metadata.entry_points(group=GROUP)
    assert found == {(entry.name, entry.value) for entry in expected}
    assert ("pictures", "headway.ext.pictures:extension") in found


def test_the_environment_chooses_among_extensions(install, monkeypatch):
    install("one", "Extension('one', '1')")
    chosen = {}
    for value in ("", "one", " pictures , one"):
        monkeypatch.setenv(extension.CHOICE, value)
        forget_extensions()
        chosen[value] = list(load_extensions())
    assert chosen == {"": [], "one": ["one"], " pictures , one": ["one", "pictures"]}
    monkeypatch.setenv(extension.CHOICE, "pictres")
    forget_extensions()
    with pytest.raises(
        UsageError, match=r"pictres: no such extension \(did you mean 'pictures'\?\)"
    ):
        load_extensions()


@each_case
def test_a_broken_extension_is_left_out_with_one_line_that_names_it(
    declared, more, says, install, caplog
):
    install("bad", declared, more)
    assert "bad" not in load_extensions()
    [line] = caplog.messages
    assert line.startswith("extension 'bad'")
    assert says in line
    assert line.endswith("; it is left out: update of-bad, or uninstall it")


def test_of_two_extensions_the_first_by_name_has_a_verb_and_the_core_keeps_its_own(install, caplog):
    verb = "Verb('of_one', 'sing', 'choir')"
    install("two", f"Extension('two', '1', verbs={{'sing': {verb}, 'plot': {verb}}})")
    install("one", f"Extension('one', '1', verbs={{'sing': {verb}, 'train': {verb}}})")
    groups = list_groups()
    assert groups["choir"] == {"sing": "sing"}
    assert collect("verbs")["sing"][0] == "one"
    assert set(caplog.messages) == {
        "extension 'one': verbs: train is left out: Headway itself has it",
        "extension 'two': verbs: sing is left out: extension 'one' has it",
        "extension 'two': verbs: plot is left out: extension 'pictures' has it",
    }


def test_a_verb_that_cannot_run_is_an_error_that_names_its_extension(install):
    install(
        "one",
        "Extension('one', '1', verbs={'sing': Verb('of_one', 'sing'), 'hum': Verb('of_one_hum', 'hum')})",
    )
    with pytest.raises(
        HeadwayError, match="extension 'one': of_one: has no EXAMPLE, which a verb needs"
    ):
        load_verb("sing")
    with pytest.raises(HeadwayError, match="extension 'one': of_one_hum: ModuleNotFoundError"):
        load_verb("hum")


def test_stages_come_in_the_order_of_the_extensions(install, caplog):
    install(
        "two",
        "Extension('two', '1', stages={'b': 'of_two:STAGE', 'c': 'of_two:NONE'})",
        "STAGE = 2",
    )
    install("one", "Extension('one', '1', stages={'a': 'of_one:STAGE'})", "STAGE = 1")
    assert load_all("stages") == [("one", 1), ("two", 2)]
    assert name_extensions() == "one 1, two 1"
    [line] = caplog.messages
    assert line.startswith("extension 'two': of_two:NONE: AttributeError")


def test_for_a_device_an_extension_of_others_goes_before_one_of_headway(install, caplog):
    install("one", "Extension('one', '1', engines={'cpu': 'of_one:make'})", "make = 'fast'")
    assert load_first("engines", "cpu") == "fast"
    assert load_first("engines", "cuda").__module__ == "headway.ext.cuda.fixed_engine"
    assert load_first("engines", "tpu") is None
    assert not caplog.messages


def test_what_is_missing_on_a_device_and_what_decides_the_last_bits(install):
    declared = "preparations={'cpu': 'of_one:prepare'}, arithmetic='of_one:identify'"
    code = "def prepare(work): return f'no {work}'\ndef identify(work): return f'1 of {work}'"
    install("one", f"Extension('one', '1', {declared})", code)
    install(
        "two",
        "Extension('two', '1', arithmetic='of_two:identify')",
        "def identify(work): return ''",
    )
    assert prepare_device("cpu", "training") == "no training"
    assert prepare_device("cuda", "training") == ""
    assert identify_arithmetic("decoding").split("; ")[-1] == "1 of decoding"


def test_what_is_broken_is_left_out_and_the_next_one_taken(install, caplog):
    install("one", "Extension('one', '1', masking='no_such:it', end_steps={'a': 'no_such'})")
    assert load_first("masking").__name__ == "ProtectedTextMasking"
    assert [module.__name__.split(".")[-1] for _, module in load_all("end_steps")] == [
        "learned_shortlist", "learned_placeholder_words", "learned_quality"
    ]  # fmt: skip
    assert [line.split(":")[0] for line in caplog.messages] == ["extension 'one'"] * 2


def test_operations_that_fail_give_way_to_plain_ones(install, caplog):
    code = "def make(): raise RuntimeError('no GPU')"
    install("one", "Extension('one', '1', operations={'tpu': 'of_one:make'})", code)
    assert make_operations("tpu") is None
    assert "no GPU; the plain ones are used" in caplog.text


def test_extensions_that_are_left_out_are_named_and_their_files_known(install, monkeypatch):
    assert name_extensions() == ""
    everything = list_sidecars()
    install("one", "Extension('one', '1', names={'A': 'a:b'})")
    assert name_extensions() == ""
    monkeypatch.setenv(extension.CHOICE, "server")
    forget_extensions()
    assert name_extensions() == "without cuda, without native, without protect, without quality"
    assert list_sidecars() == everything
    assert list_sidecars("weights") == ["quality.json"]


def test_an_option_calls_its_function_with_what_the_verb_knows(install):
    install(
        "one",
        "Extension('one', '1', options={'info --size': Option('of_one:keep', 'keep it', 'N')})",
        "def keep(*values): KEPT.append(values)\nKEPT = []",
    )
    info = load_verb("info")
    info.run(parse("info", info, ["tiny", "--size", "3"]))
    [(value, name, config)] = sys.modules["of_one"].KEPT
    assert (value, name, config.d_model) == ("3", "tiny", 128)


def test_an_option_of_the_core_stays_its_own(install, caplog, capsys):
    options = (
        "{'info --json': Option('a:b', '50 %', 'N'), 'info --model': Option('a:b', '50 %', 'N')}"
    )
    install("one", f"Extension('one', '1', options={options})")
    info = load_verb("info")
    info.run(parse("info", info, ["tiny", "--json"]))
    assert json.loads(capsys.readouterr().out)["preset"] == "tiny"
    assert caplog.messages == [
        "extension 'one': options: info --json is left out: Headway itself has it"
    ]
    with pytest.raises(SystemExit):
        parse("info", info, ["--help"])
    assert "--model N" in capsys.readouterr().out


def test_of_two_packages_with_an_extension_of_one_name_one_is_left_out(install, tmp_path, caplog):
    install("pictures", "Extension('pictures', '1')")
    install("one", "1 / 0")
    shutil.copytree(tmp_path / "Of_one-1.0.dist-info", tmp_path / "other.egg-info")
    assert find_installed()["pictures"].target == "headway.ext.pictures:extension"
    assert set(caplog.messages) == {
        "extension 'pictures' of of-pictures is left out: headway has that name",
        "extension 'one' of other is left out: of-one has that name",
    }

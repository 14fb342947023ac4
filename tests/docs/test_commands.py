"""The commands, options and imports that the documentation shows are those of the program.

A shell that finds no programs runs the blocks of code, and the program's own parser reads the words of
each of its commands.
"""

import ast
import importlib
import re
import shutil
import subprocess

import pytest

from headway.cli.arguments import make_parser, parse
from headway.cli.settings import settings_from
from headway.cli.verbs import list_verbs, load_verb
from headway.config import setting_types
from headway.config.sections import SECTIONS
from headway.extension import collect
from support.documentation import (
    OTHER_OPTIONS,
    PAGES,
    ROOT,
    read_blocks,
    read_code_spans,
    record_commands,
)

CALL = re.compile(rf"\bheadway ({'|'.join(list_verbs())})\b")
MODULES = {verb: load_verb(verb) for verb in list_verbs()}
SETTINGS = {
    "--" + name.replace("_", "-") for name in setting_types((*SECTIONS, *collect("sections")))
}
OPTIONS = {
    verb: {option for a in make_parser(verb, module)._actions for option in a.option_strings}
    for verb, module in MODULES.items()
}


NAMES = {f"--{section}.NAME" for section in (*SECTIONS, *collect("sections"))}
# Of the scripts of this repository.
SCRIPTS = {
    option
    for folder in ("benchmarks", "tests/outside")
    for path in (ROOT / folder).glob("*.py")
    for option in re.findall(r'"(--[\w-]+)"(?:: |,)', path.read_text(encoding="utf-8"))
}
ALL_OPTIONS = SETTINGS.union(NAMES, SCRIPTS, *OPTIONS.values())
HAS_BASH = bool(shutil.which("bash")) and not subprocess.call(
    ["bash", "-c", "exit $((BASH_VERSINFO[0] < 4))"]
)


def check_command(words):
    """Parse the arguments of a verb and load its settings."""
    verb, *arguments = words
    assert verb in list_verbs(), f"no such verb: {verb}"
    args = parse(verb, MODULES[verb], arguments)
    if hasattr(args, "preset") and hasattr(args, "overrides"):
        is_ours = args.config and (ROOT / args.config).is_file()
        args.config = ROOT / args.config if is_ours else None
        settings_from(args)


def find_calls(text, directory):
    """Return the words of each command of ours in a block of code, from the verb on."""
    [commands] = record_commands([text], directory)
    return [words[words.index("headway") + 1 :] for words in commands if "headway" in words[:-1]]


@pytest.mark.skipif(
    not HAS_BASH, reason="needs bash 4, which can handle commands that do not exist"
)
def test_the_pages_on_parsing_make_each_directory_once(tmp_path):
    """A treebank is not written over an older one, and a run is not trained again with other settings."""
    pages = [ROOT / "docs" / "parsing.md", ROOT / "docs" / "evidence" / "parsing.md"]
    blocks = [block for page in pages for block in read_blocks(page) if CALL.search(block.text)]
    calls = [words for block in blocks for words in find_calls(block.text, tmp_path)]
    made = [words[1] for words in calls if words[0] in ("treebank", "train")]
    made += [words[words.index("--out") + 1] for words in calls if words[0] == "reproduce"]
    assert len(made) == 5
    assert len(set(made)) == len(made)


@pytest.mark.skipif(
    not HAS_BASH, reason="needs bash 4, which can handle commands that do not exist"
)
@pytest.mark.parametrize("name", ["headway.service", "training.sbatch", "training.yaml"])
def test_commands_of_files_to_copy_are_understood(name, tmp_path):
    lines = (ROOT / "deploy" / name).read_text(encoding="utf-8").splitlines()
    calls = [
        words
        for line in lines
        if (call := CALL.search(line.split("# ")[0]))
        for words in find_calls(line[call.start() :], tmp_path)
    ]
    assert len(calls) == 1
    check_command(calls[0])


@pytest.mark.skipif(
    not HAS_BASH, reason="needs bash 4, which can handle commands that do not exist"
)
@pytest.mark.parametrize("page", PAGES, ids=str)
def test_commands_are_understood(page, tmp_path, capsys):
    blocks = [b for b in read_blocks(page) if CALL.search(b.text) and b.language != "python"]
    recorded = record_commands([block.text for block in blocks], tmp_path)
    problems = []
    for block, commands in zip(blocks, recorded, strict=True):
        calls = [w[w.index("headway") + 1 :] for w in commands if "headway" in w[:-1]]
        for line in block.text.splitlines():
            call = CALL.search(line.split("#")[0])
            if call and call[1] not in {words[0] for words in calls}:
                # The block is no shell script: it names a command inside YAML, or in a unit file.
                calls += find_calls(re.split("[\"']", line[call.start() :])[0], tmp_path)
        assert calls, f"{page}:{block.line}"
        for words in calls:
            try:
                check_command(words)
            except (SystemExit, AssertionError) as error:
                message = capsys.readouterr().err or error
                problems.append(f"{page}:{block.line}: headway {' '.join(words)}\n  {message}")
    assert not problems, "\n".join(problems)


def find_other_options(page):
    """Return the options of other programs, which a page names in a comment."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return {word for listed in re.findall(OTHER_OPTIONS, text) for word in listed.split()}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_options_in_sentences_exist(page):
    """A sentence may name a part of a command, or an option alone."""
    others = find_other_options(page)
    problems = []
    for span in read_code_spans(page):
        first, *rest = span.split()
        if first == "headway" and rest and rest[0] in list_verbs():
            settings = getattr(MODULES[rest[0]], "SETTINGS", ())
            known = OPTIONS[rest[0]] | {s for s in SETTINGS if s[2:].partition(".")[0] in settings}
        elif first == "headway" and rest and re.fullmatch("[a-z]+", rest[0]):
            problems.append(f"`{span}`: no such verb")
            continue
        elif first.startswith("--"):
            known = ALL_OPTIONS | others
        else:
            continue
        problems += [
            f"`{span}`: no such option: {word}"
            for word in [first, *rest]
            if word.startswith("--") and word.partition("=")[0] not in known
        ]
    assert not problems, f"{page}:\n" + "\n".join(problems)


def test_python_blocks_import_what_exists():
    for page, block in ((each, block) for each in PAGES for block in read_blocks(each)):
        if block.language == "python":
            for node in ast.walk(ast.parse(block.text)):
                if isinstance(node, ast.ImportFrom) and str(node.module).startswith("headway"):
                    module = importlib.import_module(str(node.module))
                    missing = [a.name for a in node.names if not hasattr(module, a.name)]
                    assert not missing, f"{page}:{block.line}: {missing}"

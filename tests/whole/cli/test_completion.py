"""Shells complete what the command accepts: each shell is asked, if it is installed."""

import re
import shlex
import shutil
import subprocess
from contextlib import redirect_stdout

import pytest

from headway.cli.main import dispatch
from headway.cli.verbs import list_verbs
from headway.cli.verbs.completion import EXAMPLE, SHELLS
from headway.config.sections import PRESETS

pytest.importorskip("shtab")
# The words of an unfinished command, and some of the words that a shell must offer.
CASES = [
    (["headway", ""], {*list_verbs()}),
    (["headway", "tra"], {"train", "translate"}),
    (["headway", "train", "runs/x", "--tr"], {"--train", "--training.max-steps"}),
    (["headway", "train", "--preset", ""], {*PRESETS}),
    (["headway", "train", "--training.optimizer", ""], {"adam", "muon"}),
    (["headway", "serve", "model", "--server.char"], {"--server.char-limit"}),
    (["headway", "completion", ""], {*SHELLS}),
    (["headway", "translate", "here"], {"hereabouts"}),
]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "hereabouts").mkdir()
    for shell in SHELLS:
        with (folder / shell).open("w", encoding="utf-8") as file, redirect_stdout(file):
            dispatch(["completion", shell])
    return {shell: folder / shell for shell in SHELLS}


def run(folder, *command):
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def ask_bash(script, words):
    """Call the function that the script has registered, as bash does when a user presses Tab."""
    code = f"""
    source ./{script.name}
    COMP_WORDS=({shlex.join(words)}) COMP_CWORD={len(words) - 1}
    entry=$(complete -p headway) && entry=${{entry##*-F }} && ${{entry%% *}} headway
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    found = run(script.parent, "bash", "--norc", "-c", code).split("\n")
    return {word for word in found if word.startswith(words[-1])}


def ask_fish(script, words):
    line = " ".join(words)
    code = f"source ./{script.name}; complete -C {shlex.quote(line)}"
    answer = run(script.parent, "fish", "--no-config", "-c", code)
    return {row.partition("\t")[0].rstrip("/") for row in answer.splitlines()}


@pytest.mark.parametrize("ask", [ask_bash, ask_fish], ids=["bash", "fish"])
@pytest.mark.parametrize(
    ("words", "expected"), CASES, ids=[" ".join(words[1:]) or "nothing" for words, _ in CASES]
)
def test_a_shell_offers_what_the_command_accepts(ask, words, expected, scripts):
    shell = ask.__name__.removeprefix("ask_")
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    found = ask(scripts[shell], words)
    assert expected <= found
    if len(words) == 2:
        assert {word for word in found if word.isalpha()} == expected


def test_zsh_accepts_its_script(scripts):
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    folder = scripts["zsh"].parent
    (folder / "_headway").write_bytes(scripts["zsh"].read_bytes())
    code = "fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; print $_comps[headway]; autoload +X _headway"
    assert "_headway" in run(folder, "zsh", "-f", "-c", code)


def test_the_examples_work_in_a_new_account(scripts, tmp_path):
    """The command is replaced by one that prints the script of the fixture."""
    headway = f"headway() {{ cat {shlex.quote(str(scripts['zsh'].parent))}/$2; }}"
    home = f"export HOME={shlex.quote(str(tmp_path))}"
    run(tmp_path, "bash", "--norc", "-ec", f"{home}; {headway}\n{EXAMPLE}")
    written = {path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {script.read_text(encoding="utf-8") for script in scripts.values()}
    if shutil.which("zsh"):
        [settings] = re.findall(r"# \.zshrc: (.*)", EXAMPLE)
        assert "_headway" in run(
            tmp_path, "zsh", "-f", "-c", f"{home}; {settings} -u -D; print $_comps[headway]"
        )

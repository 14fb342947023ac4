"""``headway completion``: print a script with which a shell completes verbs, options, settings and presets."""

import argparse

from headway.cli.completion import SHELLS, make_script
from headway.errors import HeadwayError

# Each pair of lines works in an account that is new.
EXAMPLE = (
    "mkdir -p ~/.local/share/bash-completion/completions    # for bash-completion\n"
    "headway completion bash > ~/.local/share/bash-completion/completions/headway\n"
    "mkdir -p ~/.zfunc  # .zshrc: fpath+=(~/.zfunc); autoload -U compinit; compinit\n"
    "headway completion zsh > ~/.zfunc/_headway\n"
    "mkdir -p ~/.config/fish/completions\n"
    "headway completion fish > ~/.config/fish/completions/headway.fish"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")


def run(args: argparse.Namespace) -> None:
    """Print the script."""
    try:
        script = make_script(args.shell)
    except ImportError as error:
        raise HeadwayError(
            f'headway completion needs {error.name}: pip install "headway[completion]"'
        ) from None
    print(script)

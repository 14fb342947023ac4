"""``headway serve``: models behind HTTP, with LibreTranslate's interface."""

import argparse
import asyncio
import os
import signal
from collections.abc import Sequence
from functools import partial

from headway.cli import Argument, add_options

EXAMPLE = (
    "headway serve runs/en-de\n"
    "headway serve runs/en-de runs/de-en runs/en-fr --pivot en --port 8080\n"
    "headway serve runs/en-de --server.char-limit 2000 --search.beam 2"
)
SETTINGS = ("server", "search")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_options(
        parser,
        Argument("MODEL...", "run or model directory, or hub name, for each direction"),
        Argument("--host HOST", "address to listen on (default: 127.0.0.1, for this machine only)"),
        Argument("--port PORT", "port to listen on (default: 5000; 0: any free port)"),
        Argument(
            "--pivot CODE",
            "translate through this language if no model translates directly",
            {"default": ""},
        ),
        "--backward MODEL",
        Argument("--config FILE", "a TOML file with a section [server]"),
        Argument(
            "--keys FILE",
            "file of API keys, one on each line; requests that translate, and all of /v2/, must then send one",
        ),
        "--device DEVICE",
        # A text, as in the variable that may stand for it.
        Argument("--threads THREADS", "processor threads (default: all)", {"type": str}),
        Argument("--open", "open the page in a browser"),
    )


def run(args: argparse.Namespace) -> None:
    """Serve until a signal ends the process."""
    from headway.cli import remember_signals

    with remember_signals(signal.SIGHUP) as early:  # it reads models and keys again
        _serve(args, early)


def _serve(args: argparse.Namespace, early: Sequence[int]) -> None:
    from headway import config
    from headway.cli import prepare, set_threads
    from headway.errors import HeadwayError, UsageError
    from headway.ext.server.environment import parse_whole_number, read_variables, unused_variables

    def option(name: str, default: str) -> tuple[str, str]:
        """Return the name and the text of an option, or of LibreTranslate's variable for it."""
        given, variable = getattr(args, name), f"LT_{name.upper()}"
        if given is not None:
            return f"--{name}", given
        return variable, os.environ.get(variable) or default

    overrides = {n: v for n, v in args.overrides.items() if n.startswith("server.")}
    search = {n: v for n, v in args.overrides.items() if n.startswith("search.")}
    try:
        _, host = option("host", "127.0.0.1")
        port = parse_whole_number(*option("port", "5000"), largest=65535)
        threads = parse_whole_number(*option("threads", "0"), largest=4096)
        files = [args.config] if args.config else []
        variables = read_variables(os.environ)
        settings = config.load_section("server", files, overrides, variables)
        # A wrong search setting fails before a model is read; the models' own settings come later.
        config.merge_overrides(config.Config(), search)
    except HeadwayError as error:
        raise UsageError(str(error)) from None
    set_threads(threads)
    from headway.devices import available_cores, resolve_device
    from headway.ext.server.keys import Keys
    from headway.ext.server.models import load_models
    from headway.ext.server.process import (
        configure_server_process,
        log,
        reserve_address,
        run_server,
    )
    from headway.ext.server.reload import Reloader
    from headway.ext.server.server import Server

    keys = Keys(args.keys) if args.keys else None
    reserved = reserve_address(host, port)  # before the models: a port in use fails at once
    load = partial(load_models, args.models, args.pivot, args.device, search, args.backward)
    models = load()
    prepare("decoding", resolve_device(args.device))
    workers = (threads or available_cores()) if models.is_parallel else 1
    server = Server(models, settings, keys, workers)
    watched = [*args.models, *([args.backward] if args.backward else [])]
    reloader = Reloader(server, watched, load)
    configure_server_process(settings)
    if ignored := unused_variables(os.environ):
        log.warning("not used here: %s; see docs/serving.md", ", ".join(ignored))
    caught = asyncio.run(run_server(server, reserved, reloader, early, opens_page=args.open))
    if caught != signal.SIGTERM:  # SIGTERM is how a service is stopped: the command has succeeded
        signal.raise_signal(caught)

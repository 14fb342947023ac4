"""``headway serve``: models behind HTTP, with LibreTranslate's interface."""

import argparse

EXAMPLE = (
    "headway serve runs/en-de\n"
    "headway serve runs/en-de runs/de-en runs/en-fr --pivot en --port 8080\n"
    "headway serve runs/en-de --server.char-limit 2000 --search.beam 2"
)
SETTINGS = ("server", "search")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("models", nargs="+", metavar="MODEL", help="run or model directories")
    parser.add_argument("--host", default="127.0.0.1", help="address (default: 127.0.0.1, local)")
    parser.add_argument("--port", type=int, default=5000, help="port (default: 5000; 0: any free)")
    parser.add_argument("--pivot", default="", metavar="CODE", help="go through this language")
    parser.add_argument("--config", metavar="FILE", help="TOML file with a table [server]")
    parser.add_argument("--keys", metavar="FILE", help="API keys, one a line; one is required then")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--threads", type=int, default=0, help="processor threads (default: all)")


def run(args: argparse.Namespace) -> None:
    """Serve until a signal ends it."""
    from headway.cli.main import limit_threads, usage_error
    from headway.errors import HeadwayError

    limit_threads(args.threads)
    try:
        from headway.serving.app import Server
        from headway.serving.running import Reloader, cores, listener, serve, start_logging
    except ImportError as error:
        raise HeadwayError(
            f'headway serve needs {error.name}: pip install "headway[serve]"'
        ) from None
    from headway.serving.clients import Keys
    from headway.serving.models import load_models
    from headway.serving.settings import load

    if not 0 <= args.port <= 65535:
        usage_error(f"--port {args.port}: must be 0 to 65535")
    own = {n: v for n, v in args.overrides.items() if n.startswith("server.")}
    search = {n: v for n, v in args.overrides.items() if n.startswith("search.")}
    try:
        limits = load(args.config, own)
    except HeadwayError as error:
        usage_error(str(error))
    keys = Keys(args.keys) if args.keys else None
    sock = listener(args.host, args.port)  # before the models: a port in use is told at once
    models = load_models(args.models, args.pivot, args.device, search)
    workers = (args.threads or cores()) if models.threads else 1
    server = Server(models, limits, keys, workers)
    reloader = Reloader(server, args.models, args.pivot, args.device, search)
    start_logging()
    serve(server, sock, reloader)

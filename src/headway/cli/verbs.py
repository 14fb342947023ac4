"""The verbs of ``headway``, in the groups of its help."""

TRAINING = ("train", "lm", "classify")  # the verbs whose process may train

GROUPS = {
    "every day": {
        "demo": "train, score and show a model on the built-in corpus, in minutes",
        "train": "train a model on raw parallel text, or resume a run",
        "translate": "translate standard input, line by line",
        "serve": "answer translation requests over HTTP, as LibreTranslate does",
        "evaluate": "translate a test set and score the translations",
        "info": "show what a run or model directory holds",
    },
    "step by step": {
        "prepare": "turn raw parallel text into clean, split training data",
        "average": "average checkpoints of a run into a model",
        "score": "score a file of translations against its reference",
        "compare": "compare two systems, with significance",
        "config": "print all settings, with their meaning, as TOML",
        "bench": "measure how fast this machine trains and translates",
    },
    "look inside": {
        "picture": "draw what the words of a sentence attend to",
        "heads": "measure what each attention head does, and its effect on BLEU",
        "plot": "draw the curves of training runs",
        "check": "check the masks, caches and searches of a model, in seconds",
    },
    "other programs": {
        "export": "write a model in another program's format, and compare the two",
        "import": "turn a model of another program into a model directory",
    },
    "other kinds of model": {
        "lm": "train a language model, measure it, let it write",
        "classify": "train a classifier of texts, let it label",
        "encode": "turn sentences into vectors with a model's encoder",
        "treebank": "turn bracketed trees into training data for a parser",
        "parse": "print the constituents of English sentences as bracketed trees",
    },
    "the paper": {
        "reproduce": "measure the paper's tables, figures and claims on this machine",
    },
}
VERBS = {verb: summary for verbs in GROUPS.values() for verb, summary in verbs.items()}


def overview() -> str:
    """Return the help of ``headway`` itself."""
    width = max(map(len, VERBS)) + 2
    groups = "\n\n".join(
        "\n".join([f"{name}:", *(f"  {verb:<{width}}{text}" for verb, text in verbs.items())])
        for name, verbs in GROUPS.items()
    )
    return (
        "usage: headway VERB ...      headway VERB --help shows the options of a verb\n\n"
        "The Transformer of 'Attention Is All You Need': from raw parallel text to a\n"
        f"translation model that is scored, served and exported.\n\n{groups}\n\n"
        "example:\n"
        "  headway train runs/mine --train a.en a.de --valid v.en v.de --preset tiny\n"
        "  headway translate runs/mine < text.en > text.de"
    )

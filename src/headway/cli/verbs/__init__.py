"""The verbs of ``headway``, in the groups of its help."""

TRAINING = ("train", "lm", "classify", "demo", "bench")  # the verbs whose process may train

GROUPS = {
    "every day": {
        "demo": "train and score a translator on the built-in corpus, in minutes",
        "train": "train a translator on parallel text, or resume a run",
        "best": "the best translator that a text allows: several trainings in a row",
        "translate": "translate standard input, lines of a file, or a document",
        "serve": "answer translation requests over HTTP, as LibreTranslate does",
        "evaluate": "translate a test set and score the translations",
        "info": "show what a run or model directory holds",
    },
    "step by step": {
        "prepare": "clean parallel text and split it into subwords, for several runs",
        "average": "average several checkpoints of a run into one model",
        "score": "score a file of translations against a file of references",
        "compare": "compare the translations of two systems, with significance tests",
        "config": "print every setting with its meaning, as TOML",
        "bench": "measure how fast this machine trains and translates",
        "completion": "print a script that completes verbs and options in your shell",
    },
    "look inside": {
        "picture": "draw what the words of a sentence attend to",
        "heads": "measure what each attention head does, and the BLEU lost without it",
        "plot": "draw loss, score and learning rate of training runs",
        "check": "check masks, cache and search of a model, in seconds",
    },
    "other programs": {
        "export": "write a model for another program, and compare their results",
        "import": "turn another program's model into a model directory",
    },
    "other kinds of model": {
        "lm": "train a language model, print its perplexity, or generate text",
        "classify": "train a text classifier, or label texts with it",
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
        "  headway train runs/mine --train a.en a.de --valid v.en v.de --preset quick\n"
        "  headway translate runs/mine < text.en > text.de"
    )

"""The paper's tables, figures and claims as experiments: each measures the package itself.

``reproduction.py`` runs the modules of ``experiments/`` by name, keeps each `Findings` as JSON and writes the
report. An experiment is a module that counts, plans trainings, and concludes from them (`EXPERIMENTS`). What experiments use:

- ``running/``: `Study` trains several models at once, keeps the finished trials, and groups them by seed.
- ``rivals/``: the systems that the paper names, as small translators.
- ``measuring/``: operations, time, memory, paths and parameters of a layer, without training.
- ``results.py``, ``trends.py`` and ``verdicts.py``: tables, figures and claims, and how sure one may be of them.
- ``charts.py`` and ``report.py``: figures as SVG, and one web page of all results.
- ``experiments/experiments.toml``: titles, times, and what the paper says of each two trainings.
- ``published.py`` and ``settings/``: the numbers (``experiments/published.toml``) and the settings that the paper prints.
"""

from headway import __version__
from headway.extension import Extension, Verb

extension = Extension(
    name="paper",
    version=__version__,
    verbs={
        "treebank": Verb(
            f"{__name__}.verbs.treebank",
            "turn bracketed trees into training data for a parser",
            "other kinds of model",
        ),
        "parse": Verb(
            f"{__name__}.verbs.parse",
            "print the constituents of English sentences as bracketed trees",
            "other kinds of model",
        ),
        "reproduce": Verb(
            f"{__name__}.verbs.reproduce",
            "measure the paper's tables, figures and claims on this machine",
            "the paper",
        ),
    },
)

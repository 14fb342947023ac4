"""Table 3's rows (A) taken apart: they change the number of heads and their width together."""

from collections.abc import Mapping

from headway.ext.paper.results import Table
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.table3_rows import CONTROLS
from headway.ext.paper.verdicts import interval_text

ONE, MANY = (row.label for row in CONTROLS)
# Name of a training, and what it changes beside the base.
CHANGES = {
    "(A) h = 1": "an eighth of the heads, each 8 times as wide",
    ONE: "an eighth of the heads; they keep their width",
    "(A) h = 32": "4 times the heads, each a quarter as wide",
    MANY: "4 times the heads; they keep their width",
    "(B) d_k = 16": "as many heads; queries and keys a quarter as wide, values as before",
}


def separate_heads(groups: Mapping[str, TrialGroup]) -> Table:
    """Return models with more heads, with wider heads, and with more heads of one width, beside the base.

    Args:
        groups: The trainings by the label of their row: the base, rows (A) and the controls; (B) if trained.
    """
    found = {name: groups[name] for name in CHANGES if name in groups}
    return Table(
        "Heads and their width, changed together and apart",
        ("training", "changes", "BLEU less the base's", "parameters"),
        tuple(
            (
                name, CHANGES[name], interval_text(group.less(groups["base"]), 1, sign=True),
                group.parameters,
            )
            for name, group in found.items()
        ),
        f"{ONE} and {MANY} are not in the paper; there h · d_k, and so the number of parameters, changes.",
    )  # fmt: skip

"""Table 3's rows (A) taken apart: they change the number of heads and their width together."""

from collections.abc import Mapping

from headway.paper.results import Claim, Table
from headway.paper.running.trial import Group
from headway.paper.table3_rows import CONTROLS
from headway.paper.verdicts import if_learned, interval_text, verdict

ONE, MANY = (row.label for row in CONTROLS)
# Name of a training, and what it changes beside the base.
CHANGES = {
    "(A) h = 1": "an eighth of the heads, each 8 times as wide",
    ONE: "an eighth of the heads; they keep their width",
    "(A) h = 32": "4 times the heads, each a quarter as wide",
    MANY: "4 times the heads; they keep their width",
    "(B) d_k = 16": "as many heads; queries and keys a quarter as wide, values as before",
}


def separate_heads(groups: Mapping[str, Group], least_bleu: float) -> tuple[Table, Claim]:
    """Return the effect of more heads and that of narrower ones.

    Args:
        groups: The trainings by the label of their row; those of `CHANGES` and "base" are there.
        least_bleu: Below it, a model has hardly learned.
    """
    base = groups["base"]
    found = {name: groups[name] for name in CHANGES if name in groups}
    table = Table(
        "Heads and their width, changed together and apart",
        ("training", "changes", "BLEU less the base's", "parameters"),
        tuple(
            (name, CHANGES[name], interval_text(group.less(base), 1, sign=True), group.parameters)
            for name, group in found.items()
        ),
        f"{ONE} and {MANY} are not in the paper; there h · d_k, and so the number of parameters, changes.",
    )
    gains = groups[MANY].less(base)
    claim = Claim(
        "Quality also drops with too many heads, if each of them keeps its width",
        "not separated: (A) h = 32 has -0.4 BLEU, with d_k = 16",
        f"{interval_text(gains, 1, sign=True)} BLEU",
        if_learned(verdict(gains, -1), least_bleu, base.bleu, groups[MANY].bleu),
        "if this does not hold where (A) h = 32 does, narrow heads are the reason",
        "6.2, Table 3",
    )
    return table, claim

"""Files to translate, from the lists in ``cases``: of text formats in files.jsonl, and packages in packages.txt."""

from texts import CASES

from support.grammar import read_packages
from support.http_requests import read_rows
from support.office_packages import write_zip


def read_inputs():
    """Yield the name, the content and the columns of each file."""
    for row in read_rows(CASES / "files.jsonl"):
        content = row["content"]
        yield row["name"], content.encode() if isinstance(content, str) else content, row.get("columns")  # fmt: skip
    for name, members in read_packages(CASES / "packages.txt").items():
        yield name, write_zip([*members.items()]), None

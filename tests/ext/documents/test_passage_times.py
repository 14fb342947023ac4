"""The time to divide passages and pages grows linearly with their length."""

import pytest

from headway.ext.documents.html.parsing import parse_html
from headway.ext.documents.passages import Passage
from support.text_promises import slow_shapes


@pytest.mark.slow
@pytest.mark.parametrize("what", ["passage", "html"])
def test_time_grows_linearly_with_passages_and_pages(what: str) -> None:
    work = {"passage": lambda text: Passage.split(text, "en"), "html": parse_html}[what]
    assert slow_shapes(work, 3_000) == []

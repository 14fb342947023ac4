"""The server's driver closes the jobs of clients that leave, and gives the answers of the library."""

import random

import pytest

from support.server import ask, client_of


@pytest.mark.parametrize("form", ["text", "html"])
def test_no_more_is_cut_than_the_queue_may_hold(models, tokenized, form):
    """Whatever a text has much of, and wherever it stands: what would be rejected costs no more than what fits."""
    chooser = random.Random(form)
    with client_of(models, queue_tokens=400, batch_tokens=100) as client:
        for _ in range(10):
            unit = "".join(
                chooser.choice(["a house", "the cat", "A dog"])
                + chooser.choice([" ", ". ", "! ", ", "])
                for _ in range(chooser.randint(1, 4))
            )
            text = unit * (1_500 // len(unit))
            text = text if form == "text" else f"<p>{text}</p>"
            costs = []
            for count in (8, 64):
                tokenized.clear()
                answer = ask(client, q=[text] * count, format=form)
                assert answer.status_code == 400
                assert "exceeds text limit (400)" in answer.text
                costs.append(len(tokenized))
            assert costs[0] == costs[1], unit

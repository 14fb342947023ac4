"""End-to-end memory networks on questions about stories (paper: section 2)."""

import time
from typing import NamedTuple

import torch

from headway.ext.paper.results import Claim, Finding, Table
from headway.ext.paper.rivals.memory_network import MemoryNetwork, count_right, train_network
from headway.ext.paper.rivals.stories import LONGEST, Facts, Question, StoryWords, make_questions
from headway.ext.paper.running.study import Study
from headway.ext.paper.verdicts import percent_text, verdict
from headway.model import parameter_count
from headway.training import thread_count

WIDTH = 20
EPOCHS = 100
QUESTIONS = 1000  # that are learned, and about as many that are not
SOLVED = 95.0  # percent: Weston et al. (2015) call such a task solved
TASKS: tuple[Facts, ...] = (1, 2)


def answer_questions(work: Study) -> list[Finding]:
    """Train a network for each number of supporting facts, of hops and each seed."""
    rows, claims, counts = [], [], set[int]()
    for facts in TASKS:
        for hops in (1, 3):
            trained = [train_one(facts, hops, seed) for seed in work.seeds]
            right = [network.right for network in trained]
            counts |= {network.questions for network in trained}
            seconds = sum(network.seconds for network in trained) / len(trained)
            rows.append((facts, hops, percent_text(right), round(seconds), trained[0].parameters))
        claims.append(
            Claim(
                "End-to-end memory networks perform well on simple-language question answering"
                f" (supporting facts: {facts}).",
                "named, without a number",
                f"{percent_text(right)} % right with three hops",
                verdict(
                    [value - SOLVED for value in right],
                    1,
                    100 / min(network.questions for network in trained),
                ),
                f"a task counts as solved at {SOLVED:g} %",
                "2",
                optimizer="SGD",
            )
        )
    table = Table(
        "Memory networks on generated stories",
        ("supporting facts", "hops", "right, %", "processor time, s", "parameters"),
        tuple(rows),
        f"{work.seeds_note} Each seed has stories of its own, and between {min(counts):,} and {max(counts):,} questions"
        " that its networks have not seen.",
    )
    return [table, *claims]


class TrainedNetwork(NamedTuple):
    """A trained network.

    Attributes:
        right: Right answers to unseen questions, in percent.
        questions: The count of these questions.
        seconds: Processor time of the training.
        parameters: The count of trained numbers.
    """

    right: float
    questions: int
    seconds: float
    parameters: int


def train_one(facts: Facts, hops: int, seed: int) -> TrainedNetwork:
    """Train one network, with one thread: its matrices are small."""
    words = StoryWords()
    train, test = make_parts(facts, seed)
    torch.manual_seed(seed)
    model = MemoryNetwork(words.size, WIDTH, hops, LONGEST)
    with thread_count(1):
        started = time.process_time()
        train_network(model, words.tensors(train), EPOCHS)
        seconds = time.process_time() - started
    right = count_right(model, words.tensors(test))
    return TrainedNetwork(right, len(test), seconds, parameter_count(model))


def make_parts(facts: Facts, seed: int) -> tuple[list[Question], list[Question]]:
    """Return questions to learn from, and unseen ones."""
    seen = make_questions(facts, QUESTIONS, seed)
    return seen, [q for q in make_questions(facts, QUESTIONS, 1000 + seed) if q not in set(seen)]

"""Short stories with questions, in the manner of the first two bAbI tasks (Weston et al., 2015)."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

PEOPLE = ("Anna", "Ben", "Clara", "David")
PLACES = ("kitchen", "garden", "office", "bedroom", "hallway", "cellar")
THINGS = ("ball", "book", "lamp")
MOVES = ("went to", "walked to", "returned to")
LONGEST = 10  # sentences of a story

Facts = Literal[1, 2]


@dataclass(frozen=True)
class Question:
    """A story and a question about it; the answer is one word.

    Attributes:
        story: Sentences in the order of time, as words.
        words: Of the question.
        answer: A word.
    """

    story: tuple[tuple[str, ...], ...]
    words: tuple[str, ...]
    answer: str


def make_questions(facts: Facts, count: int, seed: int) -> list[Question]:
    """Make questions that one or two sentences of the story answer.

    Args:
        facts: 1: where a person is. 2: where a thing is that a person has taken along.
        count: Of questions, each with a story of its own.
        seed: The same seed makes the same questions.
    """
    chooser = random.Random(f"{facts} {seed}")
    return [_make_question(facts, chooser) for _ in range(count)]


def _make_question(facts: Facts, chooser: random.Random) -> Question:
    while True:
        story, places, holders = [], dict[str, str](), dict[str, str]()
        for _ in range(chooser.randint(2, LONGEST)):
            person = chooser.choice(PEOPLE)
            thing = chooser.choice(THINGS)
            if facts == 2 and person in places and thing not in holders and chooser.random() < 0.5:
                holders[thing] = person
                story.append(f"{person} took the {thing}")
            else:
                places[person] = chooser.choice([p for p in PLACES if p != places.get(person)])
                story.append(f"{person} {chooser.choice(MOVES)} the {places[person]}")
        sentences = tuple(tuple(sentence.split()) for sentence in story)
        if facts == 1:
            person = chooser.choice(sorted(places))
            return Question(sentences, ("where", "is", person), places[person])
        if holders:
            thing = chooser.choice(sorted(holders))
            return Question(sentences, ("where", "is", "the", thing), places[holders[thing]])


class StoryWords:
    """Ids of all words that questions use; 0 is padding."""

    def __init__(self) -> None:
        words = {*PEOPLE, *PLACES, *THINGS, *" ".join(MOVES).split(), "took", "the", "where", "is"}
        self.ids = {word: number for number, word in enumerate(sorted(words), 1)}
        self.size = len(self.ids) + 1

    def tensors(self, questions: Sequence[Question]) -> tuple[Tensor, Tensor, Tensor]:
        """Return the stories [B, S, W], the questions [B, Q] and the answers [B] as ids."""
        longest = max(len(question.story) for question in questions)
        story_BSW = torch.zeros(len(questions), longest, 5, dtype=torch.long)
        question_BQ = torch.zeros(len(questions), 4, dtype=torch.long)
        for row, question in enumerate(questions):
            for place, sentence in enumerate(question.story):
                story_BSW[row, place, : len(sentence)] = self._ids(sentence)
            question_BQ[row, : len(question.words)] = self._ids(question.words)
        answers_B = self._ids([question.answer for question in questions])
        return story_BSW, question_BQ, answers_B

    def _ids(self, words: Sequence[str]) -> Tensor:
        return torch.tensor([self.ids[word] for word in words])

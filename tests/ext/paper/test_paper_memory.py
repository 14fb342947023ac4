"""End-to-end memory networks against their equations, and the stories that they answer questions about."""

import pytest
import torch

from headway.ext.paper.experiments import rivals_stories
from headway.ext.paper.rivals.memory_network import MemoryNetwork, count_right, train_network
from headway.ext.paper.rivals.stories import LONGEST, PLACES, StoryWords, make_questions
from headway.ext.paper.running.study import Study

STORY = torch.tensor([[[3, 7, 2, 9, 4], [5, 2, 0, 0, 0], [8, 3, 6, 0, 0]]])
QUESTION = torch.tensor([[4, 9, 0, 0]])


def make():
    torch.manual_seed(3)
    model = MemoryNetwork(11, 7, 3, 5).double()
    with torch.no_grad():
        for table in (*model.words, *model.times):
            table.weight[1:] *= 10
    return model


def test_the_memory_network_follows_its_equations():
    model = make()
    words = [table.weight for table in model.words]
    times = [table.weight for table in model.times]

    def read(table, sentence):
        sentence = [word for word in sentence if word]
        length, total = len(sentence), torch.zeros(7).double()
        for j, word in enumerate(sentence, 1):
            for k in range(1, 8):
                factor = (1 - j / length) - (k / 7) * (1 - 2 * j / length)
                total[k - 1] += factor * table[word, k - 1]
        return total

    with torch.no_grad():
        story = STORY[0].tolist()
        u = read(words[0], QUESTION[0].tolist())
        for hop in range(3):
            m = [read(words[hop], x) + times[hop][3 - i] for i, x in enumerate(story)]
            c = [read(words[hop + 1], x) + times[hop + 1][3 - i] for i, x in enumerate(story)]
            p = torch.stack([u @ m_i for m_i in m]).exp()
            p = p / p.sum()
            u = u + sum(p_i * c_i for p_i, c_i in zip(p, c, strict=True))
        torch.testing.assert_close(model(STORY, QUESTION)[0], words[3] @ u)


def test_a_story_alone_equals_the_same_story_in_a_batch():
    model = make()
    padded = torch.zeros(2, 5, 6, dtype=torch.long)
    padded[0, :3, :5] = STORY[0]
    padded[1] = torch.randint(1, 11, (5, 6))
    questions = torch.cat((QUESTION, torch.tensor([[1, 2, 3, 4]])))
    torch.testing.assert_close(model(padded, questions)[:1], model(STORY, QUESTION))


@pytest.mark.parametrize("facts", [1, 2])
def test_the_story_holds_the_answer(facts):
    questions = make_questions(facts, 200, 7)
    assert questions == make_questions(facts, 200, 7) != make_questions(facts, 200, 8)
    assert {question.answer for question in questions} == set(PLACES)
    for question in questions:
        assert 2 <= len(question.story) <= LONGEST
        subject = question.words[-1]
        if facts == 2:
            [subject] = [line[0] for line in question.story if line[1:] == ("took", "the", subject)]
        moves = [line for line in question.story if line[0] == subject and line[1] != "took"]
        assert moves[-1][-1] == question.answer


def test_the_network_learns_where_people_are():
    words = StoryWords()
    data = words.tensors(make_questions(1, 500, 1))
    torch.manual_seed(1)
    model = MemoryNetwork(words.size, 20, 1, LONGEST)
    train_network(model, data, 40)
    assert count_right(model, words.tensors(make_questions(1, 200, 2))) > 80


def test_the_experiment_answers_questions_that_were_not_seen(tmp_path, monkeypatch):
    work = Study(tmp_path, "toy", seeds=(7,))
    asked = []

    def count(model, data):
        asked.append(data)
        return count_right(model, data)

    monkeypatch.setattr(rivals_stories, "count_right", count)
    table, *claims = rivals_stories.answer_questions(work)
    assert [row[:2] for row in table.rows] == [(1, 1), (1, 3), (2, 1), (2, 3)]
    assert [claim.verdict for claim in claims] == ["not decided", "not decided"]
    for found, facts in zip(asked, (1, 1, 2, 2), strict=True):
        seen, unseen = rivals_stories.make_parts(facts, 7)
        assert unseen
        assert not set(seen) & set(unseen)
        assert all(map(torch.equal, found, StoryWords().tensors(unseen)))

"""End-to-end memory networks against their equations, and the stories that they answer questions about."""

import copy

import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

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


def random_data(count):
    torch.manual_seed(4)
    return (
        torch.randint(1, 11, (count, 3, 5)),
        torch.randint(1, 11, (count, 4)),
        torch.randint(1, 11, (count,)),
    )


def test_training_leaves_padding_without_effect():
    model, data = make(), random_data(32)
    train_network(model, data, 4)
    for table in (*model.words, *model.times):
        assert not table.weight[0].any()
    story_BSW, question_BQ, _ = data
    padded_BSW = torch.nn.functional.pad(story_BSW, (0, 3, 0, 2))
    padded_BQ = torch.nn.functional.pad(question_BQ, (0, 3))
    torch.testing.assert_close(model(padded_BSW, padded_BQ), model(story_BSW, question_BQ))


@pytest.mark.parametrize(("count", "is_clipped"), [(1, False), (64, True)])
def test_the_first_step_has_the_papers_rate_and_a_gradient_of_at_most_40(count, is_clipped):
    model, data = make(), random_data(count)
    before = copy.deepcopy(model)
    story_BSW, question_BQ, answer_B = data
    loss = -before(story_BSW, question_BQ).log_softmax(1)[range(count), answer_B].sum()
    gradients = torch.autograd.grad(loss, [*before.parameters()])
    norm = torch.cat([gradient.flatten() for gradient in gradients]).norm().item()
    assert (norm > 80) == is_clipped
    assert (norm < 20) != is_clipped
    train_network(model, data, 1, count)
    share = 40 / norm if is_clipped else 1.0
    for new, old, gradient in zip(model.parameters(), before.parameters(), gradients, strict=True):
        torch.testing.assert_close(new, old - 0.01 * share * gradient)


def test_the_rate_is_halved_after_each_quarter_of_the_epochs():
    rates = []
    hook = register_optimizer_step_pre_hook(
        lambda optimizer, *_: rates.append(optimizer.param_groups[0]["lr"])
    )
    try:
        train_network(make(), random_data(6), 12, 2)
    finally:
        hook.remove()
    quarter = 3 * 3  # three epochs of three steps
    assert rates == [0.01] * quarter + [0.005] * quarter + [0.0025] * quarter + [0.00125] * quarter


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_network_learns_where_people_are():
    words = StoryWords()
    data = words.tensors(make_questions(1, 500, 1))
    torch.manual_seed(1)
    model = MemoryNetwork(words.size, 20, 1, LONGEST)
    train_network(model, data, 40)
    assert count_right(model, words.tensors(make_questions(1, 200, 2))) > 80


@pytest.mark.slow
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

"""What is read off a model's attention while others use the model, and what that work costs them."""

import threading

import torch

from headway.model import watch
from headway.translation import Translator


def test_a_thread_sees_its_own_forwards_only(translator: Translator) -> None:
    model = translator.model
    ours, theirs = (torch.tensor([ids]) for ids in ([5, 6, 7, 2], [8, 9, 2]))
    with watch(model) as seen:
        model(ours, ours)
        other = threading.Thread(target=lambda: model(theirs, theirs))
        other.start()
        other.join()
    assert seen.outputs["encoder.layers.0"].shape[1] == 4
    assert all(weights.shape[2:] == (4, 4) for weights in seen.attention.values())

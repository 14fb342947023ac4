# %% [markdown]
# # Label smoothing
#
# The model is asked to be a little unsure.
#
# Section 5.4: the right word gets 1 - 0.1 of the probability, and 0.1 is spread over all words.
# %%
import torch
from headway.training.steps.objective import plain_loss

torch.manual_seed(9)
logits, labels = torch.randn(6, 11), torch.randint(0, 11, (6,))

goal = torch.full((6, 11), 0.1 / 11)
goal[torch.arange(6), labels] += 0.9
by_hand = -(goal * logits.log_softmax(-1)).sum()
torch.testing.assert_close(plain_loss(logits, labels, 0.1).smoothed, by_hand)
# %% [markdown]
# A model that is too sure is punished: the smoothed loss has its minimum where the right word has its goal.
# %%
certain = torch.zeros(1, 11)
losses = []
for size in range(30):
    certain[0, 4] = size
    losses.append(plain_loss(certain, torch.tensor([4]), 0.1).smoothed.item())
best = losses.index(min(losses))
print(best)
assert 0 < best < 29
# %% [markdown]
# ## Questions
#
# 1. Can the smoothed loss become 0?
# 2. Which of the two losses has the perplexity as its exponential?
#
# <details><summary>Answers</summary>
#
# 1. No: its minimum is the entropy of the goal.
# 2. The plain one, without smoothing: `plain_loss(...).nll` divided by the number of words.
#
# </details>

# %% [markdown]
# # Label smoothing
#
# The model is asked to be a little unsure.
#
# Section 5.4: instead of all of the probability, the model is to give the right word 1 - 0.1, and 0.1 is spread over all words,
# the right one included. The loss is the cross entropy with this goal.
# %%
import torch
from headway.training.steps.objective import plain_loss

torch.manual_seed(9)
logits, labels = torch.randn(6, 11), torch.randint(0, 11, (6,))  # 11 words; <pad> is none of them

goal = torch.full((6, 11), 0.1 / 11)
goal[torch.arange(6), labels] += 0.9
by_hand = -(goal * logits.log_softmax(-1)).sum()
torch.testing.assert_close(plain_loss(logits, labels, 0.1).smoothed, by_hand)
# %% [markdown]
# A model that is too sure is punished: the loss has its minimum where the right word has the probability of the goal, 0.9 + 0.1 / 11.
# %%
losses = {}
for logit in torch.arange(0, 20, 0.01):  # of the right word; all others have the logit 0
    row = torch.zeros(1, 11)
    row[0, 4] = logit
    losses[row.softmax(-1)[0, 4].item()] = plain_loss(row, torch.tensor([4]), 0.1).smoothed.item()
best = min(losses, key=losses.get)
print(f"the loss is smallest where the right word has the probability {best:.3f}")
assert abs(best - (0.9 + 0.1 / 11)) < 1e-3
# %% [markdown]
# `plain_loss` returns two sums: `smoothed`, which is trained, and `nll`, the cross entropy with all of the probability on the right word.
# exp(nll / words) is the perplexity: 1 if the right word always has the probability 1, and 10 if it has a tenth. Compare two models that are right:
# one is sure, and one as unsure as it is asked to be. The sure one has the better perplexity, and the worse smoothed loss. Both have
# the same share of right words, because that only asks for the word with the largest probability.
# %%
label = torch.tensor([4])
rows = {"sure": 9.0, "unsure": 4.6}
found = {}
for name, logit in rows.items():
    row = torch.zeros(1, 11)
    row[0, 4] = logit
    loss = plain_loss(row, label, 0.1)
    found[name] = loss.nll.exp().item(), loss.smoothed.item()
    print(
        f"{name:6}  right word {row.softmax(-1)[0, 4]:.3f}  perplexity {found[name][0]:.3f}  smoothed loss {found[name][1]:.2f}"
        f"  is it the largest? {'yes' if row.argmax() == 4 else 'no'}"
    )
assert found["sure"][0] < found["unsure"][0] and found["sure"][1] > found["unsure"][1]
# %% [markdown]
# So the share of right words need not suffer. That it grows is a finding: the paper reports a worse perplexity with smoothing, but more right words
# and a better BLEU. (BLEU is from 0 to 100, by the share of a translation's groups of one to four words that are in that of a person, too, and less
# for a text that is too short.) Why it helps is not settled. One account: a model that is not to be too sure is less spoiled
# by wrong words of the training text (Lukasik et al., "Does label smoothing mitigate label noise?", 2020).
# %% [markdown]
# ## Questions
#
# 1. Can the smoothed loss become 0?
# 2. Why may label smoothing hurt the perplexity, and not the share of right words?
#
# <details><summary>Answers</summary>
#
# 1. No: its minimum is the entropy of the goal.
# 2. The perplexity falls with the probability of the right word; the share of right words only asks whether it has the largest one.
#
# </details>

# %% [markdown]
# # The rate
#
# The learning rate rises for a while, and then falls with the inverse root of the step.
#
# Equation 3: d_model^-0.5 min(step^-0.5, step warmup^-1.5).
# %%
from headway.training.steps.optimizers import learning_rate


def by_hand(step, d_model=512, warmup=4000):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


for step in (1, 100, 1000, 4000, 16_000, 64_000):
    rate = learning_rate(step, d_model=512, warmup_steps=4000)
    assert abs(rate - by_hand(step)) < 1e-12
    print(f"{step:7,} {rate:.1e}")
# %% [markdown]
# Why rise at all? Adam divides each gradient by its recent size, which it knows badly in the first steps, and a model
# of post-norm layers (notebook 5) has large gradients near its output then (Xiong et al., "On Layer Normalization in the Transformer
# Architecture", 2020). Long steps at once make its training unstable: with one step of warm-up, our small models learn nothing or next to
# nothing, even if the peak is no higher (by equation 3 it would be, too). The peak is at the end of the warm-up.
#
# Why fall? Each step follows the gradient of one batch, which points only about in the right direction. Near the goal such steps lead back
# and forth, and smaller ones lead nearer to it. A wider model takes smaller steps, because a change of all its numbers changes what it
# returns by more. That it is just the inverse root of the step and of the width is the paper's choice, for which it gives no reason;
# other curves serve as well.
# %%
assert max(range(1, 20_000), key=by_hand) == 4000
# %% [markdown]
# ## Questions
#
# 1. What happens to the peak if the warm-up is four times as long?
# 2. What happens to it if the model is four times as wide?
# 3. What is the rate at step 16,000, compared with the peak at 4,000?
#
# <details><summary>Answers</summary>
#
# 1. It is half as high: the peak is (d_model warmup)^-0.5.
# 2. The same: it is half as high.
# 3. Half of it.
#
# </details>

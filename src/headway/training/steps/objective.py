"""The loss of training: label-smoothed cross entropy over the labels that are not padding.

Shapes: B batch, T target length, N target positions of a batch, D d_model, V vocabulary.
Paper: section 5.4, "Label Smoothing".
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from headway.model import Network, Segments
from headway.model.ops import operations_of
from headway.text.batches import Batch

# Logits held at once. On a CPU 8 MB in bf16, which stay in its last cache between the passes; on a GPU
# 0.5 GB, because each chunk costs launches and a whole gradient of the output matrix.
LOGITS_AT_ONCE = {"cpu": 1 << 22, "cuda": 1 << 28}
PADDING = -1  # the label of a position without a token


class Loss(NamedTuple):
    """Sums over label tokens; divide by their number for a mean.

    Attributes:
        smoothed: Label-smoothed cross entropy, which training minimizes (a scalar); with
            ``agreement``, plus the divergence of the two predictions.
        nll: Negative log-likelihood in nats without smoothing, whose mean is the logarithm of the
            perplexity (a scalar without gradient).
    """

    smoothed: Tensor
    nll: Tensor


def plain_loss(logits_NV: Tensor, labels_N: Tensor, smoothing: float) -> Loss:
    """Compute the label-smoothed cross entropy in plain torch, from all logits.

    Epsilon is spread evenly over the whole vocabulary, the right token included, as torch's own
    ``CrossEntropyLoss(label_smoothing)`` does: the right token gets 1 - epsilon + epsilon/V.
    fairseq and tensor2tensor spread it over the V - 1 other tokens; tensor2tensor also subtracts the
    entropy of the smoothed labels.

    Args:
        logits_NV: Logits, [N, V].
        labels_N: Right tokens, [N]; negative where there is padding, which counts for nothing.
        smoothing: Epsilon, 0 to 1.
    """
    real_N = labels_N >= 0
    log_p_NV = logits_NV.float().log_softmax(1)
    nll = -(log_p_NV.gather(1, labels_N.clamp(min=0)[:, None]).squeeze(1) * real_N).sum()
    even = -(log_p_NV.mean(1) * real_N).sum()
    return Loss((1 - smoothing) * nll + smoothing * even, nll.detach())


def chunked_loss(
    hidden_ND: Tensor,
    labels_N: Tensor,
    project: Callable[[Tensor], Tensor],
    parameters: Iterable[Tensor],
    smoothing: float,
    chunk: int = 1024,
    agreement: float = 0.0,
) -> Loss:
    """Compute `plain_loss` of ``project(hidden_ND)`` without the logits of all positions at once.

    The forward pass also computes the gradient, while the logits of a chunk exist.

    Args:
        hidden_ND: The decoder's last hidden states, [N, D]; with ``agreement`` [N, 2, D].
        labels_N: Right tokens, [N]; negative where there is padding.
        project: Maps hidden states [..., D] to logits [..., V].
        parameters: The trained parameters that ``project`` uses.
        smoothing: Epsilon, 0 to 1.
        chunk: Positions projected at once.
        agreement: Weight of the divergence between two predictions of each label (`agreement_`).
    """
    if torch.is_grad_enabled():
        smoothed, nll = _Chunked.apply(  # type: ignore[no-untyped-call]
            hidden_ND, labels_N, project, smoothing, chunk, agreement, *parameters
        )
        return Loss(smoothed, nll)
    assert not agreement, "without dropout there is only one prediction of each label"
    parts = [
        plain_loss(project(hidden), labels, smoothing)
        for hidden, labels in zip(hidden_ND.split(chunk), labels_N.split(chunk), strict=True)
    ]
    return Loss(
        torch.stack([part.smoothed for part in parts]).sum(),
        torch.stack([part.nll for part in parts]).sum(),
    )


class _KnownGradient(torch.autograd.Function):
    """A loss with a gradient that is known before the backward pass.

    `torch.autograd.grad` could be given this gradient as an argument, but then it imports sympy, which takes a second.
    """

    @staticmethod
    def forward(ctx: Any, logits: Tensor, gradient: Tensor, loss: Tensor) -> Tensor:
        ctx.gradient = gradient
        return loss.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *_: Tensor) -> tuple[Tensor | None, ...]:
        return ctx.gradient, None, None


class _Chunked(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden_ND: Tensor,
        labels_N: Tensor,
        project: Callable[[Tensor], Tensor],
        smoothing: float,
        chunk: int,
        agreement: float,
        *parameters: Tensor,
    ) -> tuple[Tensor, Tensor]:
        hidden_grads, parameter_grads = [], [torch.zeros_like(p) for p in parameters]
        nll = torch.zeros((), device=hidden_ND.device)
        even, apart = torch.zeros_like(nll), torch.zeros_like(nll)
        operations = operations_of(hidden_ND)
        for hidden, labels in zip(hidden_ND.split(chunk), labels_N.split(chunk), strict=True):
            with torch.enable_grad():
                hidden = hidden.detach().requires_grad_()
                logits = project(hidden.flatten(0, -2))
            gradient = logits.detach()
            if agreement:
                chunk_nll, chunk_even, chunk_apart = operations.agreement_(
                    gradient.unflatten(0, (-1, 2)), labels, smoothing, agreement
                )
                apart += chunk_apart
            else:
                chunk_nll, chunk_even = operations.cross_entropy_(gradient, labels, smoothing)
            nll += chunk_nll
            even += chunk_even
            with torch.enable_grad():
                loss = _KnownGradient.apply(logits, gradient, chunk_nll)  # type: ignore[no-untyped-call]
            grads = torch.autograd.grad(loss, (hidden, *parameters))
            hidden_grads.append(grads[0])
            for total, grad in zip(parameter_grads, grads[1:], strict=True):
                total += grad
            del loss, logits, gradient  # before the next chunk takes as much memory
        ctx.grads = [torch.cat(hidden_grads), *parameter_grads]
        ctx.mark_non_differentiable(nll)
        smoothed = (1 - smoothing) * nll + smoothing * even
        return smoothed + agreement / 2 * apart, nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        if ctx.grads is None:
            raise RuntimeError("this loss can be differentiated only once")
        grads, ctx.grads = ctx.grads, None
        hidden_grad, *parameter_grads = (grad.mul_(grad_outputs[0]) for grad in grads)
        return hidden_grad, None, None, None, None, None, *parameter_grads


class Objective:
    """The loss of a model on a batch.

    Args:
        model: The model.
        smoothing: Epsilon of label smoothing; validation measures with 0.
        agreement: Weight of R-Drop, which the paper does not have: the model reads each batch twice,
            with other dropout masks, and this weight times half the divergence of the two
            predictions is added. 0: off.
        cut: Share of the tokens, of both sides, whose embeddings are zero in the second of these
            passes (SimCut: Gao et al., 2022). It counts only with ``agreement``.
    """

    def __init__(
        self, model: Network, smoothing: float, agreement: float = 0.0, cut: float = 0.0
    ) -> None:
        self.model = model
        self.smoothing = smoothing
        self.agreement = agreement
        self.cut = cut
        is_cpu = next(model.parameters()).device.type == "cpu"
        logits = LOGITS_AT_ONCE["cpu" if is_cpu else "cuda"]
        self.chunk = max(1, logits // model.config.target_vocab_size)
        self.names = _find_parameters(model.logits, model)

    def __call__(self, batch: Batch) -> Loss:
        """Return the sums over the batch's label tokens."""
        labels_BT = batch.target.masked_fill(batch.target_segments == 0, PADDING)
        if self.agreement:
            both_2ND = self._read(self._with_twin(batch)).view(2, labels_BT.numel(), -1)
            hidden, chunk = both_2ND.transpose(0, 1), self.chunk // 2
        else:
            hidden, chunk = self._read(batch).flatten(0, 1), self.chunk
        return chunked_loss(
            hidden,
            labels_BT.flatten(),
            self.model.logits,
            # By name, because a model that is sharded has other objects while it computes.
            [self.model.get_parameter(name) for name in self.names],
            self.smoothing,
            chunk,
            self.agreement,
        )

    def _read(self, batch: Batch) -> Tensor:
        """Return the last hidden states, [B, T, D]."""
        source = Segments(batch.source_segments, batch.is_packed, batch.source_packing)
        # No label depends on padding on the right, so that only packed rows need target segments.
        target = None
        if batch.is_packed:
            target = Segments(batch.target_segments, True, batch.target_packing)
        return self.model.hidden(batch.source, batch.target, source, target)

    def _with_twin(self, batch: Batch) -> Batch:
        """Return a batch followed by itself, where a share of the tokens is hidden.

        One reading of both is faster than two, and their dropout masks differ.
        """
        config = self.model.config
        twin = replace(
            batch,
            source=_hide(batch.source, config.source_vocab_size - 1, self.cut),
            target=_hide(batch.target, config.target_vocab_size - 1, self.cut),
        )
        return batch.followed_by(twin)


def _hide(tokens: Tensor, pad: int, share: float) -> Tensor:
    """Replace a random share of the tokens by padding, whose embedding is zero."""
    if not share:
        return tokens
    return tokens.masked_fill(torch.rand(tokens.shape, device=tokens.device) < share, pad)


@torch.enable_grad()
def _find_parameters(logits: Callable[[Tensor], Tensor], model: Network) -> list[str]:
    """Return the names of the trained parameters that the logits depend on."""
    parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
    like = next(model.parameters())
    hidden = like.new_zeros(1, model.config.d_model, requires_grad=True)
    grads = torch.autograd.grad(
        logits(hidden).sum(), [hidden, *parameters.values()], allow_unused=True
    )
    return [name for name, grad in zip(parameters, grads[1:], strict=True) if grad is not None]


def compute_gradient(
    parameters: Sequence[Tensor],
    objective: Callable[[Batch], Loss],
    batch: Batch,
    tokens: float | Tensor,
    low_precision: bool,
) -> list[Tensor]:
    """Compute the gradient of a batch's loss, divided by ``tokens``.

    Args:
        parameters: What is trained; they have no gradient before and after.
        objective: The loss on a batch.
        batch: On the device of the parameters.
        tokens: Target tokens of the whole step; a scalar of the device, if a GPU records the computation.
        low_precision: Whether matrix products are in bfloat16.

    Returns:
        The gradient of each parameter; and the smoothed loss and the nll, summed over target tokens, [2].
    """
    try:
        with torch.autocast(batch.source.device.type, torch.bfloat16, enabled=low_precision):
            smoothed, nll = objective(batch)
        (smoothed / tokens).backward()
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
    finally:
        for parameter in parameters:
            parameter.grad = None
    return [*gradients, torch.stack((smoothed.detach(), nll))]

"""The settings: five frozen sections that make one `Config`.

The defaults are the paper's (Vaswani et al., 2017), unless a line says otherwise. The text beside
each setting is what `headway config` prints.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from headway.errors import HeadwayError

UNLIMITED = 1_000_000_000  # the largest limit of a server: no request reaches it
LARGEST = 1_000_000  # of any one size: a damaged file must not ask for all the memory there is
Kind = Literal["translator", "language-model", "classifier"]
Mixer = Literal["attention", "lstm", "gru", "convolution", "dilated", "separable"]


def _bounds(
    section: Any,
    positive: Sequence[str] = (),
    not_negative: Sequence[str] = (),
    rate: Sequence[str] = (),
    unit: Sequence[str] = (),
    size: Sequence[str] = (),
) -> list[str]:
    """Check the ranges that many settings share: > 0, >= 0, [0, 1), (0, 1] and [0, LARGEST]."""
    rules: tuple[tuple[Sequence[str], Callable[[float], bool], str], ...] = (
        (positive, lambda v: v > 0, "more than 0"),
        (not_negative, lambda v: v >= 0, "0 or more"),
        (rate, lambda v: 0 <= v < 1, "at least 0 and below 1"),
        (unit, lambda v: 0 < v <= 1, "more than 0 and at most 1"),
        (size, lambda v: v <= LARGEST, f"at most {LARGEST:,}"),
    )
    return [
        f"{name} = {getattr(section, name)} must be {words}"
        for names, holds, words in rules
        for name in names
        if not holds(getattr(section, name))
    ]


def raise_all(problems: Sequence[str]) -> None:
    """Raise one `HeadwayError` with a line for each problem, if there are any."""
    if problems:
        raise HeadwayError("\n".join(problems))


@dataclass(frozen=True, kw_only=True)
class TextConfig:
    """How raw text becomes pieces, and which training pairs are left out (paper: section 5.1).

    A cleaning rule set to 0 or false is switched off.
    """

    vocab_size: Annotated[int, "pieces in a vocabulary, control symbols included"] = 37000
    joint_vocab: Annotated[bool, "one vocabulary for both languages"] = True
    subwords: Annotated[Literal["bpe", "unigram"], "algorithm that learns the pieces"] = "bpe"
    character_coverage: Annotated[float, "share of characters with a piece; the rest as bytes"] = (
        1.0
    )
    sample_lines: Annotated[
        int, "pairs the subwords are learned from, spread over the text; 0: all"
    ] = 1000000
    split_digits: Annotated[bool, "every digit is a piece of its own"] = False
    copies: Annotated[
        int, "times a training pair is written, after the first in pieces drawn anew (BPE dropout)"
    ] = 1
    merge_dropout: Annotated[float, "chance that a merge is left out in the further copies"] = 0.1
    max_tokens: Annotated[int, "longest training side in pieces; longer pairs are dropped"] = 256
    drop_unreadable: Annotated[
        bool, "drop lines that are not UTF-8 or no pair; else stop at the first"
    ] = True
    drop_empty: Annotated[bool, "drop pairs with an empty side"] = True
    drop_control: Annotated[bool, "drop pairs with control characters"] = True
    max_characters: Annotated[int, "longest side in characters; 0: no limit"] = 5000
    max_ratio: Annotated[float, "longest side / shortest side in characters + 10; 0: no limit"] = (
        3.0
    )
    drop_duplicates: Annotated[bool, "keep the first of equal pairs"] = True
    drop_identical: Annotated[bool, "drop pairs whose two sides are the same text"] = True
    max_copied: Annotated[
        float,
        "largest share of a target's words copied from the source (untranslated); 0: no limit",
    ] = 0.8
    drop_leaks: Annotated[bool, "drop training pairs that occur in the validation set"] = True

    def problems(self) -> list[str]:
        """Return a line for each value that cannot work."""
        problems = _bounds(
            self,
            positive=("vocab_size", "max_tokens", "copies"),
            rate=("merge_dropout",),
            unit=("character_coverage",),
            not_negative=("sample_lines", "max_characters", "max_ratio", "max_copied"),
        )
        if self.copies > 1 and self.subwords != "bpe":
            problems.append(f"copies = {self.copies} needs subwords = bpe, which has merges")
        return problems

    def __post_init__(self) -> None:
        raise_all(self.problems())


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The shape of a model (paper: section 3; the defaults are Table 3's base)."""

    kind: Annotated[
        Kind, "encoder and decoder, the decoder alone, or the encoder alone: what the data is for"
    ] = "translator"
    source_vocab_size: Annotated[int, "rows of the source embedding; 0: from the tokenizer"] = 0
    target_vocab_size: Annotated[int, "rows of the target embedding; 0: from the tokenizer"] = 0
    num_encoder_layers: Annotated[int, "N of the encoder"] = 6
    num_decoder_layers: Annotated[int, "N of the decoder"] = 6
    d_model: Annotated[int, "width of every sub-layer"] = 512
    d_ff: Annotated[int, "inner width of the feed-forward networks"] = 2048
    num_heads: Annotated[int, "h, parallel attention heads"] = 8
    d_k: Annotated[int, "width of a head's queries and keys; 0: d_model / num_heads"] = 0
    d_v: Annotated[int, "width of a head's values; 0: d_model / num_heads"] = 0
    d_embedding: Annotated[
        int, "width of the embeddings, mapped linearly to d_model; 0: d_model"
    ] = 0
    dropout: Annotated[float, "P_drop, on sub-layer outputs and embedding sums"] = 0.1
    attention_dropout: Annotated[float, "dropout on attention weights; the paper has none"] = 0.0
    feed_forward_dropout: Annotated[float, "dropout after the ReLU; the paper has none"] = 0.0
    norm: Annotated[
        Literal["post", "pre"], "layer norm after the residual sum (paper), or before"
    ] = "post"
    norm_epsilon: Annotated[float, "added to the variance in layer norm"] = 1e-5
    activation: Annotated[Literal["relu", "gelu", "swish"], "inside the feed-forward"] = "relu"
    feed_forward: Annotated[Literal["linear", "convolution"], "section 3.3's two descriptions"] = (
        "linear"
    )
    encoder_mixer: Annotated[Mixer, "what mixes positions in the encoder"] = "attention"
    decoder_mixer: Annotated[Mixer, "what mixes positions in the decoder"] = "attention"
    kernel_size: Annotated[int, "k of the convolutional mixers"] = 3
    gated: Annotated[bool, "gated linear units in the convolutional mixers"] = False
    compatibility: Annotated[Literal["dot", "additive"], "how a query meets a key"] = "dot"
    scale_attention: Annotated[bool, "divide compatibilities by sqrt(d_k)"] = True
    attention_bias: Annotated[bool, "biases in W^Q, W^K, W^V and W^O; equation 5 has none"] = False
    window: Annotated[int, "r: self-attention sees r positions; 0: all"] = 0
    positions: Annotated[Literal["sinusoidal", "learned", "none"], "section 3.5"] = "sinusoidal"
    max_positions: Annotated[int, "rows of the position table; longer input needs sinusoids"] = 1024
    tying: Annotated[Literal["three-way", "target", "none"], "shared embedding matrices"] = (
        "three-way"
    )
    scale_embeddings: Annotated[bool, "multiply embeddings by sqrt(d_model)"] = True
    scale_logits: Annotated[bool, "multiply logits by d_model^-0.5"] = False
    output_bias: Annotated[bool, "a bias on the logits"] = False

    def problems(self) -> list[str]:
        """Return a line for each value that cannot work."""
        found = _bounds(
            self,
            positive=(
                "d_model",
                "d_ff",
                "num_heads",
                "kernel_size",
                "max_positions",
                "norm_epsilon",
            ),
            not_negative=(
                "source_vocab_size",
                "target_vocab_size",
                "num_encoder_layers",
                "num_decoder_layers",
                "d_k",
                "d_v",
                "d_embedding",
                "window",
            ),
            rate=("dropout", "attention_dropout", "feed_forward_dropout"),
            size=("d_model", "d_ff", "num_heads", "d_k", "d_v", "d_embedding", "max_positions"),
        )
        if self.num_heads > 0 and self.d_model % self.num_heads and not (self.d_k and self.d_v):
            found.append(
                f"d_model = {self.d_model} is not a multiple of num_heads = {self.num_heads}:"
                " give d_k and d_v, or another number of heads"
            )
        if self.positions == "sinusoidal" and self.d_model % 2:
            found.append(f"d_model = {self.d_model} must be even for sinusoidal positions")
        if self.kernel_size % 2 == 0 and self.encoder_mixer in (
            "convolution",
            "dilated",
            "separable",
        ):
            found.append(f"kernel_size = {self.kernel_size} must be odd: the encoder's is centred")
        if self.encoder_mixer in ("lstm", "gru") and self.d_model % 2:
            found.append(f"d_model = {self.d_model} must be even for two recurrent directions")
        joint = self.kind != "classifier" and self.tying == "three-way"
        if joint and self.source_vocab_size != self.target_vocab_size:
            found.append(
                "tying = 'three-way' needs one vocabulary: use joint_vocab = true,"
                " or tying = 'target'"
            )
        return found

    def __post_init__(self) -> None:
        raise_all(self.problems())

    @property
    def head_widths(self) -> tuple[int, int]:
        """d_k and d_v, with 0 resolved to d_model / num_heads."""
        return (
            self.d_k or self.d_model // self.num_heads,
            self.d_v or self.d_model // self.num_heads,
        )


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """The training regime (paper: section 5)."""

    max_steps: Annotated[int, "optimizer steps of the whole run"] = 100000
    batch_tokens: Annotated[int, "at most so many source and so many target tokens a step"] = 25000
    micro_batch_tokens: Annotated[int, "at most so many at once in memory; a step accumulates"] = (
        25000
    )
    packed: Annotated[
        bool, "steps mix lengths, without padding; the paper batches like lengths"
    ] = False
    rate_scale: Annotated[float, "multiplies equation 3's learning rate"] = 1.0
    warmup_steps: Annotated[int, "steps of linear warm-up"] = 4000
    cool_steps: Annotated[
        int, "last steps, in which the rate also falls linearly to 0; the paper has none"
    ] = 0
    adam_beta1: Annotated[float, "Adam's beta1"] = 0.9
    adam_beta2: Annotated[float, "Adam's beta2"] = 0.98
    adam_epsilon: Annotated[float, "Adam's epsilon"] = 1e-9
    clip_norm: Annotated[float, "largest gradient norm; 0, the paper's: not clipped"] = 0.0
    label_smoothing: Annotated[float, "epsilon_ls, spread evenly over the whole vocabulary"] = 0.1
    agreement: Annotated[
        float, "alpha of R-Drop: two readings of a batch are to agree, at twice the time; 0: off"
    ] = 0.0
    validate_every: Annotated[int, "steps between validations"] = 1500
    checkpoint_every: Annotated[int, "steps between checkpoints (paper: 10 minutes)"] = 1500
    average: Annotated[int, "the last so many checkpoints are kept and averaged; 1: none"] = 5
    patience: Annotated[int, "stop after so many validations without a better one; 0: never"] = 0
    validation_beam: Annotated[int, "beam of validation translations; 1 is greedy"] = 1
    validation_sentences: Annotated[int, "validation pairs translated for BLEU; 0: all"] = 1000
    seed: Annotated[int, "of initial weights, batch order and dropout"] = 1
    precision: Annotated[
        Literal["auto", "bf16", "fp32"], "of matrix products; auto: bf16 where fast"
    ] = "auto"
    device: Annotated[str, "auto, cpu, cuda or cuda:N"] = "auto"
    threads: Annotated[int, "processor threads; 0: all cores. Exact resume keeps the number"] = 0
    max_failures: Annotated[int, "non-finite steps in a row before going back to a checkpoint"] = 5
    tensorboard: Annotated[bool, "also write TensorBoard events"] = False

    def problems(self) -> list[str]:
        """Return a line for each value that cannot work."""
        return _bounds(
            self,
            positive=(
                "max_steps",
                "batch_tokens",
                "micro_batch_tokens",
                "warmup_steps",
                "rate_scale",
                "validate_every",
                "checkpoint_every",
                "average",
                "validation_beam",
                "adam_epsilon",
                "max_failures",
            ),
            not_negative=(
                "cool_steps",
                "clip_norm",
                "agreement",
                "patience",
                "validation_sentences",
                "threads",
                "seed",
            ),
            rate=("adam_beta1", "adam_beta2", "label_smoothing"),
        )

    def __post_init__(self) -> None:
        raise_all(self.problems())


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """How translations are found (paper: section 6.1)."""

    beam: Annotated[int, "hypotheses kept; 1 is greedy"] = 4
    alpha: Annotated[float, "length penalty ((5 + |Y|) / 6)^alpha; 0: none"] = 0.6
    max_extra: Annotated[int, "longest output: source tokens + this"] = 50
    n_best: Annotated[int, "translations a line, best first"] = 1
    sample: Annotated[bool, "draw from the model instead of searching"] = False
    temperature: Annotated[float, "of sampling; below 1 is sharper"] = 1.0
    top_k: Annotated[int, "sample among the k likeliest tokens; 0: all"] = 0
    top_p: Annotated[float, "sample among the likeliest tokens of this total probability"] = 1.0
    seed: Annotated[int, "of sampling"] = 1
    max_tokens: Annotated[int, "longer lines are split at sentence ends and rejoined"] = 200
    split_sentences: Annotated[
        bool, "translate each sentence of a line by itself: for models trained on single ones"
    ] = False
    batch_tokens: Annotated[int, "padded source tokens translated at once"] = 2000
    precision: Annotated[
        Literal["auto", "fp32", "bf16", "int8"], "of matrix products; auto: fp32, bf16 on a GPU"
    ] = "auto"
    shortlist: Annotated[
        int,
        "target tokens a source token suggests, instead of all; 0: all; at most 100; sampling takes all",
    ] = 0

    def problems(self) -> list[str]:
        """Return a line for each value that cannot work."""
        found = _bounds(
            self,
            positive=("beam", "n_best", "temperature", "max_tokens", "batch_tokens"),
            not_negative=("alpha", "max_extra", "top_k", "seed", "shortlist"),
            unit=("top_p",),
        )
        if self.alpha > 10:
            found.append(f"alpha = {self.alpha} must be at most 10")
        if self.shortlist > 100:
            found.append(f"shortlist = {self.shortlist} must be at most 100")
        if self.temperature < 0.01:
            found.append(f"temperature = {self.temperature} must be at least 0.01")
        if self.n_best > self.beam > 0 and not self.sample:
            found.append(
                f"n_best = {self.n_best} is more than beam = {self.beam}: a beam of {self.n_best} or more"
            )
        return found

    def __post_init__(self) -> None:
        raise_all(self.problems())


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """Limits and times of ``headway serve``; the paper has no server."""

    char_limit: Annotated[int, "characters of one text"] = 10_000
    batch_limit: Annotated[int, "texts in one request"] = 64
    alternatives_limit: Annotated[int, "alternatives of one text"] = 10
    body_limit: Annotated[int, "bytes of a request's body"] = 1_000_000
    req_limit: Annotated[int, "texts a minute for each client; 0: any number"] = 0
    queue_tokens: Annotated[int, "source tokens that may wait"] = 50_000
    queue_texts: Annotated[int, "texts that may wait or be translated"] = 500
    batch_tokens: Annotated[int, "padded source tokens translated at once"] = 2_000
    wait_ms: Annotated[float, "milliseconds that a batch waits for more requests under load"] = 3.0
    deadline: Annotated[float, "seconds from a request to its answer; then it gets 503"] = 30.0
    idle_seconds: Annotated[float, "seconds for a header, for a body, and between requests"] = 8.0
    connections: Annotated[int, "open connections; further ones wait to be accepted"] = 2_000
    split_sentences: Annotated[bool, "translate each sentence of a line by itself"] = True
    trusted_proxies: Annotated[
        str, "addresses whose X-Forwarded-For is believed, separated by commas"
    ] = ""
    metrics_token: Annotated[str, "bearer token that /metrics requires; empty: none"] = ""
    watch_seconds: Annotated[
        float, "seconds between two looks for changed models; 0: only on SIGHUP"
    ] = 0.0

    def problems(self) -> list[str]:
        """Return a line for each value that cannot work."""
        may_be_zero = ("req_limit", "alternatives_limit", "wait_ms", "watch_seconds")
        words = ("split_sentences", "trusted_proxies", "metrics_token")
        names = [f.name for f in dataclasses.fields(self) if f.name not in words]
        found = _bounds(
            self,
            positive=[name for name in names if name not in may_be_zero],
            not_negative=may_be_zero,
        )
        found += [
            f"{name} = {getattr(self, name)} must be at most {UNLIMITED}"
            for name in names
            if not getattr(self, name) <= UNLIMITED
        ]
        if self.batch_tokens > self.queue_tokens:
            found.append(
                f"batch_tokens = {self.batch_tokens} is more than queue_tokens = {self.queue_tokens}"
            )
        return found

    def __post_init__(self) -> None:
        raise_all(self.problems())


@dataclass(frozen=True, kw_only=True)
class Config:
    """All settings. Those of a run are `RUN_SECTIONS`; a server has its own."""

    text: TextConfig = field(default_factory=TextConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    server: ServerConfig = field(default_factory=ServerConfig)

    def __post_init__(self) -> None:
        learned = self.model.positions == "learned"
        if learned and self.text.max_tokens > self.model.max_positions:
            raise HeadwayError(
                f"text.max_tokens = {self.text.max_tokens} is more than model.max_positions ="
                f" {self.model.max_positions} learned positions"
            )

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return the settings of a run as nested dictionaries, section -> name -> value."""
        return {section: dataclasses.asdict(getattr(self, section)) for section in RUN_SECTIONS}


SECTIONS: dict[str, Any] = {
    "text": TextConfig, "model": ModelConfig, "training": TrainingConfig, "search": SearchConfig,
    "server": ServerConfig,
}  # fmt: skip
RUN_SECTIONS = ("text", "model", "training", "search")  # what config.json of a run holds

"""An RNN encoder-decoder with additive attention.

Bahdanau, Cho & Bengio, 2015, "Neural Machine Translation by Jointly Learning to Align and Translate",
https://arxiv.org/abs/1409.0473. The paper of the Transformer names it in sections 1, 3, 3.2.1 and
3.2.3.

Shapes: B batch, S source length, T target length, D d_model, A annotations' width 2 D, N hypotheses.
"""

import torch
from torch import Tensor, nn

from headway.config import ModelConfig
from headway.ext.paper.rivals.rival import Rival, RivalState, real_positions
from headway.model import Linear, SegmentsLike, initialize_linear_maps


class GatedUnit(nn.Module):
    """The gated hidden unit of Cho et al. (2014); torch's GRU multiplies by the reset gate later.

    Equations of appendix A.1.1, with ``inputs`` for the terms that do not depend on the state:
    z = sigma(inputs_z + U_z s), r = sigma(inputs_r + U_r s), s~ = tanh(inputs + U [r * s]),
    s' = (1 - z) * s + z * s~.

    Args:
        width: D.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gates = nn.Linear(width, 2 * width, bias=False)  # U_z and U_r
        self.candidate = nn.Linear(width, width, bias=False)  # U

    def forward(self, inputs_B3D: Tensor, state_BD: Tensor) -> Tensor:
        """Return the next state, [B, D]; ``inputs_B3D`` are those of candidate, z and r."""
        inputs, inputs_z, inputs_r = inputs_B3D.chunk(3, -1)
        gate_z, gate_r = self.gates(state_BD).chunk(2, -1)
        z, r = (inputs_z + gate_z).sigmoid(), (inputs_r + gate_r).sigmoid()
        candidate = (inputs + self.candidate(r * state_BD)).tanh()
        return (1 - z) * state_BD + z * candidate


class RecurrentTranslator(Rival):
    """A bidirectional encoder, and a decoder that aligns before it predicts.

    Widths that the paper chooses one by one (embeddings 620, hidden units 1000, maxout 500) are all
    D here, and it has one layer, as in the paper. It begins with the paper's weights, most of which have a
    standard deviation of 0.01.
    """

    departs = "all widths are one; no noise on the weights"

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        width = config.d_model
        self.forward_inputs = Linear(width, 3 * width)  # W, W_z, W_r of the encoder
        self.backward_inputs = Linear(width, 3 * width)
        self.forward_unit = GatedUnit(width)
        self.backward_unit = GatedUnit(width)
        self.first_state = Linear(width, width)  # W_s
        self.target_inputs = Linear(width, 3 * width)  # W, W_z, W_r of the decoder
        self.context_inputs = Linear(2 * width, 3 * width, bias=False)  # C, C_z, C_r
        self.unit = GatedUnit(width)
        self.align_state = Linear(width, width, bias=False)  # W_a
        self.align_memory = Linear(2 * width, width, bias=False)  # U_a
        self.align_energy = nn.Parameter(torch.empty(width))  # v_a
        self.out_state = Linear(width, 2 * width)  # U_o
        self.out_target = Linear(width, 2 * width, bias=False)  # V_o
        self.out_context = Linear(2 * width, 2 * width, bias=False)  # C_o
        self._initialize()

    def _initialize(self) -> None:
        """Set the weights of appendix B.1: v_a and biases zero, the maps of states orthogonal, others small."""
        for parameter in self.parameters():
            if parameter.dim() == 1:
                nn.init.zeros_(parameter)
            else:
                nn.init.normal_(parameter, std=0.01)
        for unit in (self.forward_unit, self.backward_unit, self.unit):
            for part in (*unit.gates.weight.split(self.config.d_model), unit.candidate.weight):
                nn.init.orthogonal_(part)
        for linear in (self.align_state, self.align_memory):
            nn.init.normal_(linear.weight, std=0.001)
        for embedding in (self.source_embedding, self.target_embedding):
            nn.init.zeros_(embedding.weight[-1])  # <pad>

    def start(self, source_BS: Tensor, source_segments: SegmentsLike = None) -> RivalState:
        """Read the source in both directions; s_0 = tanh(W_s h_1) of the backward direction."""
        real_BS = real_positions(source_BS, source_segments)
        embedded_BSD = self.source_embedding(source_BS)
        ahead_BSD = self._run(self.forward_unit, self.forward_inputs(embedded_BSD), real_BS)
        back_BSD = self._run(
            self.backward_unit, self.backward_inputs(embedded_BSD).flip(1), real_BS.flip(1)
        ).flip(1)
        memory_BSA = torch.cat((ahead_BSD, back_BSD), -1)
        return RivalState(
            hidden=self.first_state(back_BSD[:, 0]).tanh(),
            memory=memory_BSA,
            keys=self.align_memory(memory_BSA),
            real=real_BS,
        )

    def decode(self, shifted_BT: Tensor, state: RivalState) -> Tensor:
        """Return the maxout layer t_i for each target token, [B, T, D]; appendix A.2.2."""
        embedded_BTD = self.target_embedding(shifted_BT)
        states, contexts = [], []
        for inputs_B3D in self.target_inputs(embedded_BTD).unbind(1):
            states.append(state["hidden"])
            contexts.append(self._advance(inputs_B3D, state))
        return self._maxout(torch.stack(states, 1), embedded_BTD, torch.stack(contexts, 1))

    def step(self, tokens_N: Tensor, state: RivalState) -> Tensor:
        """Read one more token; see `Rival.step`."""
        embedded_ND, before_ND = self.target_embedding(tokens_N), state["hidden"]
        context_NA = self._advance(self.target_inputs(embedded_ND), state)
        return self.logits(self._maxout(before_ND, embedded_ND, context_NA))

    def _run(self, unit: GatedUnit, inputs_BS3D: Tensor, real_BS: Tensor) -> Tensor:
        """Run a unit over the positions from a zero state, which padding does not change."""
        state_BD = inputs_BS3D.new_zeros(len(inputs_BS3D), self.config.d_model)
        states = []
        for inputs_B3D, real_B in zip(inputs_BS3D.unbind(1), real_BS.unbind(1), strict=True):
            state_BD = torch.where(real_B[:, None], unit(inputs_B3D, state_BD), state_BD)
            states.append(state_BD)
        return torch.stack(states, 1)

    def _advance(self, inputs_N3D: Tensor, state: RivalState) -> Tensor:
        """Compute s_i in place of s_(i-1), by equations 5 and 6; returns the context c_i, [N, A]."""
        query_N1D = self.align_state(state["hidden"])[:, None]
        energies_NS = (query_N1D + state["keys"]).tanh() @ self.align_energy
        weights_NS = energies_NS.masked_fill(~state["real"], -torch.inf).softmax(1)
        context_NA = (weights_NS[:, None] @ state["memory"])[:, 0]
        inputs_N3D = inputs_N3D + self.context_inputs(context_NA)
        state["hidden"] = self.unit(inputs_N3D, state["hidden"])
        return context_NA

    def _maxout(self, before: Tensor, embedded: Tensor, context: Tensor) -> Tensor:
        """Return the larger of each two neighbors of U_o s_(i-1) + V_o E y_(i-1) + C_o c_i."""
        wide = self.out_state(before) + self.out_target(embedded) + self.out_context(context)
        return wide.unflatten(-1, (-1, 2)).amax(-1)


class LargerRecurrentTranslator(RecurrentTranslator):
    """The same with larger initial weights: those of Glorot & Bengio (2010), as the Transformer has.

    In as few steps as the trainings here have, weights of 0.01 hardly grow.
    """

    departs = (
        "initial weights as Glorot & Bengio (2010); all widths are one; no noise on the weights"
    )

    def _initialize(self) -> None:
        """Draw the linear maps as Glorot & Bengio do; biases are zero, and embeddings stay as they are drawn."""
        initialize_linear_maps(self)
        nn.init.normal_(self.align_energy, std=len(self.align_energy) ** -0.5)

"""The Transformer of attention-is-all-you-need-pytorch as it was in 2018, for comparison.

The class and argument names, and the order of operations, are those that explanations of the paper print. Copyright (c) 2017
Victor Huang, MIT license; the initializations are left out.
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

PAD = 0


class ScaledDotProductAttention(nn.Module):
    def __init__(self, temperature, attn_dropout=0.1):
        super().__init__()
        self.temperature = temperature
        self.dropout = nn.Dropout(attn_dropout)

    def forward(self, q, k, v, mask):
        attn = torch.bmm(q, k.transpose(1, 2)) / self.temperature
        attn = attn.masked_fill(mask, -np.inf).softmax(2)
        return torch.bmm(self.dropout(attn), v)


class MultiHeadAttention(nn.Module):
    def __init__(self, n_head, d_model, d_k, d_v, dropout):
        super().__init__()
        self.n_head, self.d_k, self.d_v = n_head, d_k, d_v
        self.w_qs = nn.Linear(d_model, n_head * d_k)
        self.w_ks = nn.Linear(d_model, n_head * d_k)
        self.w_vs = nn.Linear(d_model, n_head * d_v)
        self.attention = ScaledDotProductAttention(temperature=d_k**0.5)
        self.layer_norm = nn.LayerNorm(d_model)
        self.fc = nn.Linear(n_head * d_v, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask):
        sz_b, residual = q.size(0), q

        def split(x, width):  # (n*b) x length x width
            x = x.view(sz_b, -1, self.n_head, width)
            return x.permute(2, 0, 1, 3).contiguous().view(-1, x.size(1), width)

        q, k = split(self.w_qs(q), self.d_k), split(self.w_ks(k), self.d_k)
        output = self.attention(q, k, split(self.w_vs(v), self.d_v), mask.repeat(self.n_head, 1, 1))
        output = output.view(self.n_head, sz_b, -1, self.d_v)
        output = output.permute(1, 2, 0, 3).contiguous().view(*residual.shape[:2], -1)
        return self.layer_norm(self.dropout(self.fc(output)) + residual)


class PositionwiseFeedForward(nn.Module):
    def __init__(self, d_in, d_hid, dropout):
        super().__init__()
        self.w_1 = nn.Conv1d(d_in, d_hid, 1)
        self.w_2 = nn.Conv1d(d_hid, d_in, 1)
        self.layer_norm = nn.LayerNorm(d_in)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        output = self.w_2(F.relu(self.w_1(x.transpose(1, 2)))).transpose(1, 2)
        return self.layer_norm(self.dropout(output) + x)


class EncoderLayer(nn.Module):
    def __init__(self, d_model, d_inner, n_head, d_k, d_v, dropout):
        super().__init__()
        self.slf_attn = MultiHeadAttention(n_head, d_model, d_k, d_v, dropout)
        self.pos_ffn = PositionwiseFeedForward(d_model, d_inner, dropout)

    def forward(self, enc_input, non_pad_mask, slf_attn_mask):
        enc_output = self.slf_attn(enc_input, enc_input, enc_input, slf_attn_mask) * non_pad_mask
        return self.pos_ffn(enc_output) * non_pad_mask


class DecoderLayer(nn.Module):
    def __init__(self, d_model, d_inner, n_head, d_k, d_v, dropout):
        super().__init__()
        self.slf_attn = MultiHeadAttention(n_head, d_model, d_k, d_v, dropout)
        self.enc_attn = MultiHeadAttention(n_head, d_model, d_k, d_v, dropout)
        self.pos_ffn = PositionwiseFeedForward(d_model, d_inner, dropout)

    def forward(self, dec_input, enc_output, non_pad_mask, slf_attn_mask, dec_enc_attn_mask):
        dec_output = self.slf_attn(dec_input, dec_input, dec_input, slf_attn_mask) * non_pad_mask
        dec_output = self.enc_attn(dec_output, enc_output, enc_output, dec_enc_attn_mask)
        return self.pos_ffn(dec_output * non_pad_mask) * non_pad_mask


def get_sinusoid_encoding_table(n_position, d_hid, padding_idx):
    angle = [
        [position / np.power(10000, 2 * (j // 2) / d_hid) for j in range(d_hid)]
        for position in range(n_position)
    ]
    table = np.array(angle)
    table[:, 0::2] = np.sin(table[:, 0::2])
    table[:, 1::2] = np.cos(table[:, 1::2])
    table[padding_idx] = 0.0
    return torch.FloatTensor(table)


def hide_padding(seq_k, seq_q):
    return (seq_k == PAD)[:, None].expand(-1, seq_q.size(1), -1)


def embed_positions(len_max_seq, width):
    return nn.Embedding.from_pretrained(get_sinusoid_encoding_table(len_max_seq + 1, width, PAD))


class Encoder(nn.Module):
    def __init__(self, vocab, len_max_seq, d_word_vec, n_layers, *shape):
        super().__init__()
        self.src_word_emb = nn.Embedding(vocab, d_word_vec, padding_idx=PAD)
        self.position_enc = embed_positions(len_max_seq, d_word_vec)
        self.layer_stack = nn.ModuleList(EncoderLayer(*shape) for _ in range(n_layers))  # type: ignore[arg-type]

    def forward(self, src_seq, src_pos):
        mask, non_pad_mask = hide_padding(src_seq, src_seq), (src_seq != PAD)[..., None]
        output: Tensor = self.src_word_emb(src_seq) + self.position_enc(src_pos)
        for layer in self.layer_stack:
            output = layer(output, non_pad_mask, mask)
        return output


class Decoder(nn.Module):
    def __init__(self, vocab, len_max_seq, d_word_vec, n_layers, *shape):
        super().__init__()
        self.tgt_word_emb = nn.Embedding(vocab, d_word_vec, padding_idx=PAD)
        self.position_enc = embed_positions(len_max_seq, d_word_vec)
        self.layer_stack = nn.ModuleList(DecoderLayer(*shape) for _ in range(n_layers))  # type: ignore[arg-type]

    def forward(self, tgt_seq, tgt_pos, src_seq, enc_output):
        later = torch.ones(tgt_seq.size(1), tgt_seq.size(1), dtype=torch.bool).triu(1)
        slf_attn_mask = hide_padding(tgt_seq, tgt_seq) | later
        masks = (tgt_seq != PAD)[..., None], slf_attn_mask, hide_padding(src_seq, tgt_seq)
        output: Tensor = self.tgt_word_emb(tgt_seq) + self.position_enc(tgt_pos)
        for layer in self.layer_stack:
            output = layer(output, enc_output, *masks)
        return output


class Transformer(nn.Module):
    def __init__(
        self,
        n_src_vocab,
        n_tgt_vocab,
        len_max_seq,
        d_word_vec=512,
        d_model=512,
        d_inner=2048,
        n_layers=6,
        n_head=8,
        d_k=64,
        d_v=64,
        dropout=0.1,
    ):
        super().__init__()
        shape = n_layers, d_model, d_inner, n_head, d_k, d_v, dropout
        self.encoder = Encoder(n_src_vocab, len_max_seq, d_word_vec, *shape)
        self.decoder = Decoder(n_tgt_vocab, len_max_seq, d_word_vec, *shape)
        self.tgt_word_prj = nn.Linear(d_model, n_tgt_vocab, bias=False)
        self.tgt_word_prj.weight = self.decoder.tgt_word_emb.weight
        self.x_logit_scale = d_model**-0.5
        self.encoder.src_word_emb.weight = self.decoder.tgt_word_emb.weight

    def forward(self, src_seq, src_pos, tgt_seq, tgt_pos):
        tgt_seq, tgt_pos = tgt_seq[:, :-1], tgt_pos[:, :-1]
        enc_output = self.encoder(src_seq, src_pos)
        dec_output = self.decoder(tgt_seq, tgt_pos, src_seq, enc_output)
        seq_logit: Tensor = self.tgt_word_prj(dec_output) * self.x_logit_scale
        return seq_logit.view(-1, seq_logit.size(2))

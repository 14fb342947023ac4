// The layers of an encoder-decoder, and its encoder (paper: section 3.1).
//
// Shapes: M rows (tokens or hypotheses), D d_model, H heads, K d_k, V d_v, F d_ff. Rows of every
// buffer are padded with zeros to whole panels, and heads to whole vectors.
#pragma once

#include <cstddef>
#include <stdexcept>

#include "linear.h"
#include "queries.h"

namespace headway {

// decoding.py has ctypes structures of the same fields as Layer and Model. Python owns all that
// they point to.
struct Layer {
    const Linear *query_key_value, *output;                   // self-attention
    const Linear *cross_query, *cross_key_value, *cross_output;  // null in an encoder
    const Linear *inner, *outer;                              // feed-forward
    const float* norms[3][2];  // gain and bias, padded, of self-attention, cross-attention, feed-forward
};

struct Model {
    int64_t d_model, d_ff, heads, d_k, d_v, encoder_layers, decoder_layers;
    int64_t pre_norm, activation, source_vocab, target_vocab;
    double epsilon, attention_scale, embedding_scale;
    const Layer *encoder, *decoder;
    const float *source_table, *target_table;  // [vocabulary, D], without padding
    const float* final_norms[2][2];            // encoder, decoder; pre-norm only
    const Linear* logits;

    long width() const { return padded(d_model); }
    long key_width() const { return whole_vectors(d_k); }
    long value_width() const { return whole_vectors(d_v); }
    long keys() const { return heads * key_width(); }      // of all heads
    long values() const { return heads * value_width(); }
    long projected() const { return padded(2 * keys() + values()); }
};

// The sizeof of each structure, then the offset of each field.
static const int64_t LAYER_LAYOUT[] = {
    sizeof(Layer),
#define OFFSET(field) offsetof(Layer, field)
    OFFSET(query_key_value), OFFSET(output), OFFSET(cross_query), OFFSET(cross_key_value),
    OFFSET(cross_output), OFFSET(inner), OFFSET(outer), OFFSET(norms),
#undef OFFSET
};
static const int64_t MODEL_LAYOUT[] = {
    sizeof(Model),
#define OFFSET(field) offsetof(Model, field)
    OFFSET(d_model), OFFSET(d_ff), OFFSET(heads), OFFSET(d_k), OFFSET(d_v), OFFSET(encoder_layers),
    OFFSET(decoder_layers), OFFSET(pre_norm), OFFSET(activation), OFFSET(source_vocab),
    OFFSET(target_vocab), OFFSET(epsilon), OFFSET(attention_scale), OFFSET(embedding_scale),
    OFFSET(encoder), OFFSET(decoder), OFFSET(source_table), OFFSET(target_table),
    OFFSET(final_norms), OFFSET(logits),
#undef OFFSET
};

// (x - mean) / sqrt(variance + epsilon) * gain + bias, [rows, D]; out may be x.
static void normalize(const Model& model, const float* x, long rows, const float* const norm[2],
                      float* out) {
    const long D = model.d_model, width = model.width();
    const float epsilon = static_cast<float>(model.epsilon);
    for (long m = 0; m < rows; ++m, x += width, out += width) {
        Vector total = {}, squares = {};
        for (long d = 0; d < width; d += LANES) total += load(x + d);
        const float mean = sum(total) / D;
        for (long d = 0; d < D; d += LANES) {
            Vector centered = load(x + d) - mean;
            if (D - d < LANES) centered = first_lanes(centered, D - d, 0);
            squares += centered * centered;
        }
        const float variance = sum(squares) / D;
        // If a square overflows, the row must become NaN, not zero.
        const float rate = std::isfinite(variance) ? 1.0f / std::sqrt(variance + epsilon) : NAN;
        for (long d = 0; d < width; d += LANES)
            store(out + d, (load(x + d) - mean) * rate * load(norm[0] + d) + load(norm[1] + d));
    }
}

// Buffers of one sub-layer.
struct Workspace {
    Inputs inputs;
    Scratch<float> normed, projected, context, inner, scores, keys;
};

// LayerNorm(x + sublayer(x)), or x + sublayer(LayerNorm(x)); sublayer(in) adds to x itself.
template <class Sublayer>
static void residual(const Model& model, float* x, long rows, const float* const norm[2],
                     Workspace& space, Sublayer&& sublayer) {
    if (model.pre_norm) {
        float* in = space.normed.get(rows * model.width());
        normalize(model, x, rows, norm, in);
        sublayer(in);
    } else {
        sublayer(x);
        normalize(model, x, rows, norm, x);
    }
}

static void feed_forward(const Model& model, const Layer& layer, float* x, long rows,
                         Workspace& space) {
    residual(model, x, rows, layer.norms[2], space, [&](const float* in) {
        const long F = padded(model.d_ff), D = model.width();
        float* inner = space.inner.get(rows * F);
        layer.inner->store(in, D, rows, space.inputs, inner, F, Activation(model.activation));
        layer.outer->add(inner, F, rows, space.inputs, x, D);
    });
}

// x [rows, D] = embeddings * scale + positions first, first + 1, ...; positions may be null.
static void embed(const Model& model, const float* table, int64_t vocab, const float* positions,
                  const int64_t* ids, long rows, long step, float* x) {
    const long D = model.d_model;
    const float scale = static_cast<float>(model.embedding_scale);
    for (long m = 0; m < rows; ++m, x += model.width()) {
        if (ids[m] < 0 || ids[m] >= vocab) throw std::out_of_range("no such token");
        const float* row = table + ids[m] * D;
        const float* position = positions ? positions + m * step * D : nullptr;
        for (long d = 0; d < D; ++d) x[d] = row[d] * scale + (position ? position[d] : 0.0f);
        std::memset(x + D, 0, (model.width() - D) * sizeof(float));
    }
}

// Encode sentences that are stored without padding, x [sum of lengths, D], in place.
static void encode(const Model& model, float* x, const int64_t* lengths, long sentences,
                   Workspace& space) {
    long rows = 0, longest = 0;
    for (long b = 0; b < sentences; ++b) {
        rows += lengths[b];
        longest = std::max<long>(longest, lengths[b]);
    }
    const long D = model.width(), P = model.projected(), C = padded(model.values());
    const long K = model.key_width(), V = model.value_width(), H = model.heads;
    for (const Layer* layer = model.encoder; layer < model.encoder + model.encoder_layers; ++layer) {
        residual(model, x, rows, layer->norms[0], space, [&](const float* in) {
            float* projected = space.projected.get(rows * P);
            float* context = space.context.get(rows * C);
            float* keys = space.keys.get(model.keys() * whole_vectors(longest));
            float* scores = space.scores.get(MOST_QUERIES * whole_vectors(longest));
            layer->query_key_value->store(in, D, rows, space.inputs, projected, P);
            long first = 0;
            for (long b = 0; b < sentences; first += lengths[b++]) {
                const float* q = projected + first * P;
                transpose_keys(q + model.keys(), P, lengths[b], model.keys(), keys);
                attend_all(q, P, lengths[b], {keys, q + 2 * model.keys(), P, lengths[b]}, H, K, V,
                           static_cast<float>(model.attention_scale), scores, context + first * C, C);
            }
            layer->output->add(context, C, rows, space.inputs, x, D);
        });
        feed_forward(model, *layer, x, rows, space);
    }
    if (model.pre_norm) normalize(model, x, rows, model.final_norms[0], x);
}

}  // namespace headway

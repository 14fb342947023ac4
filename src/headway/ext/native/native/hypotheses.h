// Step-by-step translation of many sentences with K hypotheses each (paper: sections 3.2.3 and 6.1).
//
// Keys and values of the target stay where they were written. A hypothesis holds a pointer to them for
// each past position, so that reordering hypotheses moves pointers only. Keys and values of the source
// are computed once for each sentence, and its hypotheses share them.
//
// Shapes: A sentences, N = A x hypotheses, T positions read, and the shapes of transformer.h.
#pragma once

#include "ensemble.h"
#include "selection.h"
#include "transformer.h"

namespace headway {

constexpr long ROWS_AT_ONCE = 256;  // source tokens encoded together, so few that the cache holds them

class State {
public:
    State(const Model& model, const int64_t* ids, const int64_t* lengths, long sentences, long beams,
          long limit, const float* source_positions, const float* target_positions)
        : model_(model), beams_(beams), limit_(limit), positions_(target_positions) {
        for (long b = 0; b < sentences; ++b) {
            sentences_.push_back({memory_size_, lengths[b], nullptr});
            memory_size_ += model.decoder_layers * layer_size(lengths[b]);
        }
        memory_ = Block<float>(std::max<long>(memory_size_, 1), false);
        past_.resize(sentences * beams);
        for (long b = 0; b < sentences;) {
            long rows = 0, end = b;
            while (end < sentences && (end == b || rows + lengths[end] <= ROWS_AT_ONCE))
                rows += lengths[end++];
            remember(ids, lengths, b, end, rows, source_positions);
            ids += rows;
            b = end;
        }
    }

    long rows() const { return static_cast<long>(past_.size()); }
    long tokens() const { return model_.target_vocab; }

    // Read a token of each hypothesis; the returned hidden states [N, D] are valid until the next call.
    // Attention to the source in layers [first, end) is watched. If is_partial, what comes after it is not computed.
    const float* read(const int64_t* tokens, const Watch& watch = {}, long first = 0, long end = 0,
                      bool is_partial = false) {
        const Model& m = model_;
        const long N = rows(), D = m.width(), P = m.projected(), C = padded(m.values());
        if (position_ == limit_) throw std::out_of_range("a position beyond the limit");
        float* x = hidden_.get(N * D);
        const float* position = positions_ ? positions_ + position_ * m.d_model : nullptr;
        embed(m, m.target_table, m.target_vocab, position, tokens, N, 0, x);
        grow();
        for (long l = 0; l < m.decoder_layers; ++l) {
            const Layer& layer = m.decoder[l];
            float* projected = space_.projected.get(N * P);
            float* context = space_.context.get(N * C);
            const long row_width = m.keys() + m.values();
            residual(m, x, N, layer.norms[0], space_, [&](const float* in) {
                layer.query_key_value->store(in, D, N, space_.inputs, projected, P);
                float* scores = space_.scores.get(whole_vectors(position_ + 1));
                for (long n = 0; n < N; ++n) {
                    std::memcpy(past_[n][position_] + l * row_width,
                                projected + n * P + m.keys(), row_width * sizeof(float));
                    attend_past(projected + n * P, past_[n].data(), position_ + 1, l * row_width,
                                l * row_width + m.keys(), m.heads, m.key_width(), m.value_width(), scale(), scores,
                                context + n * C);
                }
                layer.output->add(context, C, N, space_.inputs, x, D);
            });
            residual(m, x, N, layer.norms[1], space_, [&](const float* in) {
                const long Q = padded(m.keys());
                layer.cross_query->store(in, D, N, space_.inputs, projected, Q);
                for (size_t a = 0; a < sentences_.size(); ++a)
                    attend_all(projected + a * beams_ * Q, Q, beams_, memory(a, l), m.heads,
                               m.key_width(), m.value_width(), scale(),
                               space_.scores.get(MOST_QUERIES * whole_vectors(sentences_[a].length)),
                               context + a * beams_ * C, C,
                               first <= l && l < end ? watch.from(a * beams_) : Watch{});
                layer.cross_output->add(context, C, N, space_.inputs, x, D);
            });
            if (is_partial && l + 1 == end) break;
            feed_forward(m, layer, x, N, space_);
        }
        if (m.pre_norm) normalize(m, x, N, m.final_norms[1], x);
        ++position_;
        return x;
    }

    // Score translations that are given, step by step: read the token of each hypothesis. log_p [N] becomes the
    // log-probability of the tokens `next`, which follow; without them, no other function may read tokens besides. To weights [N, stride], unless null, is
    // added how much each hypothesis attends to each source token: the mean over the heads of layers [first, end).
    void read_given(const int64_t* tokens, const int64_t* next, double* log_p, long first, long end,
                    float* weights, long stride) {
        Watch watch;
        if (weights) {
            for (const Sentence& s : sentences_)
                if (s.length > stride) throw std::out_of_range("a source longer than the rows of weights");
            if (first < 0 || first >= end || end > model_.decoder_layers) throw std::out_of_range("no such layers");
            watch = {weights, stride, 1.0f / (model_.heads * (end - first))};
        }
        const float* x = read(tokens, watch, first, end, !next);
        if (!next) return;
        std::vector<int64_t> ids(rows());
        std::vector<float> logits(rows());
        select(x, next, 1, ids.data(), logits.data(), log_p, {});
        for (long n = 0; n < rows(); ++n) log_p[n] = logits[n] - log_p[n];  // select has put its sums there
    }

    // Restrict the choice of sentence b to tokens ids[ends[b - 1]] to ids[ends[b]]: in ascending order,
    // with the last token of the vocabulary.
    void restrict(const int64_t* ids, const int64_t* ends) {
        for (Sentence& s : sentences_) {
            const long begin = &s == sentences_.data() ? 0 : ends[&s - sentences_.data() - 1];
            s.chosen = std::make_unique<const Chosen>(*model_.logits, ids + begin,
                                                ends[&s - sentences_.data()] - begin);
        }
    }

    void select(const float* x, const int64_t* forced, long wanted, int64_t* ids, float* logits,
                double* log_z, const Asked& asked) {
        const long D = model_.width();
        check(forced, asked);
        if (sentences_.empty() || !sentences_[0].chosen)
            return best(*model_.logits, x, rows(), forced, wanted, ids, logits, log_z, asked);
        std::vector<int64_t> asked_places(asked.ids ? beams_ * asked.count : 0);
        for (size_t a = 0; a < sentences_.size(); ++a) {
            const Chosen& chosen = *sentences_[a].chosen;
            const long first = a * beams_;
            std::vector<int64_t> places(beams_, -1);
            for (long k = 0; forced && k < beams_; ++k)
                if (forced[first + k] >= 0) places[k] = chosen.place(forced[first + k]);
            Asked own;
            if (asked.ids) own = {asked_places.data(), asked.count, asked.logits + first * asked.count};
            for (size_t i = 0; i < asked_places.size(); ++i)
                asked_places[i] = chosen.place(asked.ids[first * asked.count + i]);
            best(chosen.logits, x + first * D, beams_, places.data(), wanted, ids + first * wanted,
                 logits + first * wanted, log_z + first, own);
            for (long i = first * wanted; i < (first + beams_) * wanted; ++i) ids[i] = chosen.ids[ids[i]];
        }
    }

    // The logits of `count` rows of x from `first` on, [count, padded V].
    void logits(const float* x, long first, long count, float* out) {
        const long D = model_.width();
        model_.logits->store(x + first * D, D, count, space_.inputs, out, padded(tokens()));
    }

    void check(const int64_t* forced, const Asked& asked) const {
        for (long n = 0; forced && n < rows(); ++n)
            if (forced[n] >= tokens()) throw std::out_of_range("no such token");
        for (long i = 0; asked.ids && i < rows() * asked.count; ++i)
            if (asked.ids[i] < 0 || asked.ids[i] >= tokens()) throw std::out_of_range("no such token");
    }

    // Let hypothesis i continue hypothesis rows[i].
    void reorder(const int64_t* rows, long count) {
        std::vector<Past> next(count);
        for (long i = 0; i < count; ++i) next[i] = past_[rows[i]];
        past_ = std::move(next);
    }

    void keep(const int64_t* kept, long count) {
        std::vector<Sentence> next;
        for (long i = 0; i < count; ++i) next.push_back(std::move(sentences_[kept[i]]));
        sentences_ = std::move(next);
    }

    Ensemble ensemble;  // with the states of other models

private:
    struct Chosen {  // the tokens that a sentence may choose, and the map to their logits
        Chosen(const Linear& whole, const int64_t* begin, long count)
            : ids(begin, begin + count), logits(whole, begin, count) {}
        int64_t place(int64_t id) const {
            const auto found = std::lower_bound(ids.begin(), ids.end(), id);
            if (found == ids.end() || *found != id) throw std::out_of_range("a token not on the list");
            return found - ids.begin();
        }
        std::vector<int64_t> ids;
        Linear logits;
    };
    struct Sentence {
        long offset, length;  // of its memory in floats, and its number of tokens S
        std::unique_ptr<const Chosen> chosen;  // null: all tokens
    };
    typedef std::vector<float*> Past;          // for each position a row [layers, keys and values]

    void best(const Linear& map, const float* x, long rows, const int64_t* forced, long wanted,
              int64_t* ids, float* logits, double* log_z, const Asked& asked) {
        Selection selection(map.bias(), map.outputs() - 1, wanted, forced, ids, logits, rows, asked);
        map.apply(x, model_.width(), rows, space_.inputs, selection);
        selection.finish(log_z);
    }

    float scale() const { return static_cast<float>(model_.attention_scale); }

    long layer_size(long length) const {
        return model_.keys() * whole_vectors(length) + model_.values() * length;
    }

    Memory memory(long sentence, long layer) const {
        const Sentence& s = sentences_[sentence];
        const float* keys = memory_.get() + s.offset + layer * layer_size(s.length);
        return {keys, keys + model_.keys() * whole_vectors(s.length), model_.values(), s.length};
    }

    // Encode sentences [begin, end) and keep their keys and values for every layer.
    void remember(const int64_t* ids, const int64_t* lengths, long begin, long end, long rows,
                  const float* positions) {
        const long D = model_.width(), C = padded(model_.keys() + model_.values());
        float* x = hidden_.get(rows * D);
        long first = 0;
        for (long b = begin; b < end; first += lengths[b++])
            embed(model_, model_.source_table, model_.source_vocab, positions, ids + first, lengths[b], 1,
                  x + first * D);
        encode(model_, x, lengths + begin, end - begin, space_);
        for (long l = 0; l < model_.decoder_layers; ++l) {
            float* both = space_.projected.get(rows * C);
            model_.decoder[l].cross_key_value->store(x, D, rows, space_.inputs, both, C);
            for (long b = begin; b < end; both += C * lengths[b++]) {
                const Memory to = memory(b, l);
                transpose_keys(both, C, lengths[b], model_.keys(), const_cast<float*>(to.keys));
                for (long s = 0; s < lengths[b]; ++s)
                    std::memcpy(const_cast<float*>(to.values) + s * to.stride,
                                both + s * C + model_.keys(), to.stride * sizeof(float));
            }
        }
    }

    // Add memory for one more position of every hypothesis; it is allocated for several at once.
    void grow() {
        const long row = model_.decoder_layers * (model_.keys() + model_.values());
        if (cache_.empty() || free_ < rows() * row) {
            const long several = std::clamp<long>((4 << 20) / (sizeof(float) * (rows() * row + 1)), 1, 16);
            free_ = several * rows() * row;
            cache_.emplace_back(free_, false);
        }
        float* at = cache_.back().get() + cache_.back().size() - free_;
        for (long n = 0; n < rows(); ++n) past_[n].push_back(at + n * row);
        free_ -= rows() * row;
    }

    const Model& model_;
    long beams_, limit_, memory_size_ = 0, position_ = 0;
    const float* positions_;
    std::vector<Sentence> sentences_;
    std::vector<Past> past_;
    std::vector<Block<float>> cache_;
    long free_ = 0;  // numbers of the last block that are not in use
    Block<float> memory_;
    Scratch<float> hidden_;
    Workspace space_;
};

}  // namespace headway

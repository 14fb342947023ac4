// The functions that Python calls to translate step by step.
#include "guard.h"
#include "hypotheses.h"

using namespace headway;

namespace {

constexpr long ROWS_TOGETHER = 48;  // whose logits are kept: whole tiles, and few enough for the cache

// Let several models read a token of each of the same hypotheses; see `Ensemble`.
void select_together(const std::vector<State*>& states, const int64_t* tokens, long rows, const int64_t* forced,
                     long wanted, int64_t* ids, double* log_p, double* log_z, const int64_t* asked,
                     long asked_count, double* asked_log_p) {
    State& one = *states[0];
    for (const State* state : states)
        if (state->rows() != rows || state->tokens() != one.tokens()) throw std::invalid_argument("other hypotheses");
    one.check(forced, {asked, asked_count, nullptr});
    std::vector<const float*> hidden;
    for (State* state : states) hidden.push_back(state->read(tokens));
    const long block = ROWS_TOGETHER * padded(one.tokens());
    float* logits = one.ensemble.prepare(states.size(), ROWS_TOGETHER, one.tokens());
    for (long first = 0; first < rows; first += ROWS_TOGETHER) {
        const long count = std::min(ROWS_TOGETHER, rows - first);
        for (size_t m = 0; m < states.size(); ++m)
            states[m]->logits(hidden[m], first, count, logits + m * block);
        for (long n = first; n < first + count; ++n)
            one.ensemble.select(n - first, wanted, forced ? forced + n : nullptr, ids + n * wanted, log_p + n * wanted,
                               log_z + n, asked + n * asked_count, asked_count, asked_log_p + n * asked_count);
    }
}

}  // namespace

HEADWAY_EXPORT int headway_has_bf16() {
#if defined(__AVX512BF16__)
    return 1;
#else
    return 0;
#endif
}

HEADWAY_EXPORT int linear_new(int precision, const float* weight, const float* bias, int64_t outputs,
                              int64_t inputs, void** linear) {
    return guarded(
        [&] { *linear = new Linear(Precision(precision), weight, bias, outputs, inputs); });
}

HEADWAY_EXPORT void linear_free(void* linear) { delete static_cast<Linear*>(linear); }

// y [rows, N] = x [rows, K] W^T + bias, without padding; only tests use it.
HEADWAY_EXPORT int linear_apply(const void* linear, const float* x, int64_t rows, float* y) {
    return guarded([&] {
        const Linear& map = *static_cast<const Linear*>(linear);
        const long in = padded(map.inputs()), out = padded(map.outputs());
        Block<float> from(rows * in), to(rows * out);
        Inputs space;
        for (long m = 0; m < rows; ++m)
            std::copy(x + m * map.inputs(), x + (m + 1) * map.inputs(), from.get() + m * in);
        map.store(from.get(), in, rows, space, to.get(), out);
        for (long m = 0; m < rows; ++m)
            std::copy(to.get() + m * out, to.get() + m * out + map.outputs(),
                      y + m * map.outputs());
    });
}

// limit: positions that may be read, and rows of target_positions.
HEADWAY_EXPORT int state_new(const Model* model, const int64_t* ids, const int64_t* lengths,
                             int64_t sentences, int64_t beams, int64_t limit, const float* source_positions,
                             const float* target_positions, void** state) {
    return guarded([&] {
        *state = new State(*model, ids, lengths, sentences, beams, limit, source_positions,
                           target_positions);
    });
}

HEADWAY_EXPORT int state_restrict(void* state, const int64_t* ids, const int64_t* ends) {
    return guarded([&] { static_cast<State*>(state)->restrict(ids, ends); });
}

HEADWAY_EXPORT void state_free(void* state) { delete static_cast<State*>(state); }

HEADWAY_EXPORT int state_select(void* state, const int64_t* tokens, const int64_t* forced,
                                int64_t wanted, int64_t* ids, float* logits, double* log_z,
                                const int64_t* asked, int64_t asked_count, float* asked_logits) {
    State& s = *static_cast<State*>(state);
    return guarded([&] {
        s.select(s.read(tokens), forced, wanted, ids, logits, log_z, {asked, asked_count, asked_logits});
    });
}

HEADWAY_EXPORT int state_logits(void* state, const int64_t* tokens, float* out) {
    State& s = *static_cast<State*>(state);
    return guarded([&] { s.logits(s.read(tokens), 0, s.rows(), out); });
}

HEADWAY_EXPORT int states_select(void* const* states, int64_t count, const int64_t* tokens, int64_t rows,
                                 const int64_t* forced, int64_t wanted, int64_t* ids, double* log_p, double* log_z,
                                 const int64_t* asked, int64_t asked_count, double* asked_log_p) {
    return guarded([&] {
        std::vector<State*> together;
        for (int64_t m = 0; m < count; ++m) together.push_back(static_cast<State*>(states[m]));
        select_together(together, tokens, rows, forced, wanted, ids, log_p, log_z, asked, asked_count, asked_log_p);
    });
}

HEADWAY_EXPORT int state_read(void* state, const int64_t* tokens, const int64_t* next, double* log_p,
                              int64_t first, int64_t end, float* weights, int64_t stride) {
    return guarded(
        [&] { static_cast<State*>(state)->read_given(tokens, next, log_p, first, end, weights, stride); });
}

HEADWAY_EXPORT int state_reorder(void* state, const int64_t* rows, int64_t count) {
    return guarded([&] { static_cast<State*>(state)->reorder(rows, count); });
}

HEADWAY_EXPORT int state_keep(void* state, const int64_t* sentences, int64_t count) {
    return guarded([&] { static_cast<State*>(state)->keep(sentences, count); });
}

HEADWAY_EXPORT const char* build_identity() { return HEADWAY_IDENTITY; }

// Layout 0 is that of Layer, 1 that of Model: the sizeof, then the offset of each field.
HEADWAY_EXPORT const int64_t* structure_layout(int index) {
    return index == 0 ? LAYER_LAYOUT : index == 1 ? MODEL_LAYOUT : nullptr;
}

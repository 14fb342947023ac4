// Which queries may attend to which keys: sentences of packed rows, and the distance of positions.
//
// Shapes: B rows, T queries, S keys, H heads, K width of queries and keys, V width of values.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "products.h"

// attention.py has a ctypes structure of the same fields.
struct AttentionArguments {
    int64_t B, H, T, S, K, V;
    // Strides in elements, from one batch row, position and head to the next.
    int64_t q_batch, q_position, q_head, k_batch, k_position, k_head, v_batch, v_position, v_head;
    const int64_t* query_segments;  // [B, T] or null: all are 1
    const int64_t* key_segments;    // [B, S] or null: no key is hidden by its segment
    int64_t keys_before, keys_after; // query i may attend to keys i - keys_before to i + keys_after
    float scale;
};

// The sizeof of the structure, then the offset of each field.
static const int64_t ATTENTION_ARGUMENTS_LAYOUT[] = {
    sizeof(AttentionArguments),
#define OFFSET(field) offsetof(AttentionArguments, field)
    OFFSET(B), OFFSET(H), OFFSET(T), OFFSET(S), OFFSET(K), OFFSET(V),
    OFFSET(q_batch), OFFSET(q_position), OFFSET(q_head),
    OFFSET(k_batch), OFFSET(k_position), OFFSET(k_head),
    OFFSET(v_batch), OFFSET(v_position), OFFSET(v_head),
    OFFSET(query_segments), OFFSET(key_segments), OFFSET(keys_before), OFFSET(keys_after), OFFSET(scale),
#undef OFFSET
};

// Queries [t, t_end) and keys [s, s_end) of batch row b that may attend only to each other. They are `mixed`
// if their segments decide which.
struct Span {
    int64_t b, t, t_end, s, s_end;
    bool mixed;
};

inline int64_t run_end(const int64_t* segments, int64_t start, int64_t length) {
    int64_t end = start + 1;
    while (end < length && segments[end] == segments[start]) end++;
    return end;
}

// Cut packed rows into their sentences, so that a row costs no more than its sentences. A row stays
// whole if a segment of its queries has no keys, or if a segment comes twice.
inline std::vector<Span> cut_spans(const AttentionArguments& h) {
    std::vector<Span> found;
    for (int64_t b = 0; b < h.B; b++) {
        const size_t before = found.size();
        bool whole = !h.query_segments || !h.key_segments;
        const int64_t* queries = whole ? nullptr : h.query_segments + b * h.T;
        const int64_t* keys = whole ? nullptr : h.key_segments + b * h.S;
        std::unordered_map<int64_t, std::pair<int64_t, int64_t>> runs;
        for (int64_t s = 0; !whole && s < h.S;) {
            const int64_t end = run_end(keys, s, h.S);
            whole = !runs.emplace(keys[s], std::make_pair(s, end)).second;
            s = end;
        }
        for (int64_t t = 0; !whole && t < h.T;) {
            const int64_t end = run_end(queries, t, h.T);
            auto run = runs.find(queries[t]);
            whole = run == runs.end();
            if (!whole) {
                found.push_back({b, t, end, run->second.first, run->second.second, false});
                runs.erase(run);
            }
            t = end;
        }
        if (whole) {
            found.resize(before);
            found.push_back({b, 0, h.T, 0, h.S, h.key_segments != nullptr});
        }
    }
    return found;
}

// The most queries and the most keys of a span.
inline std::pair<int64_t, int64_t> largest_span(const std::vector<Span>& all) {
    int64_t T = 0, S = 0;
    for (const Span& span : all) {
        T = std::max(T, span.t_end - span.t);
        S = std::max(S, span.s_end - span.s);
    }
    return {T, S};
}

// Which queries and keys of a span can see each other by their distance; both are counted from the first of the
// span. A key that none of some queries can see is left out of their products, which changes no bit of the sums.
// Nothing is left out if segments decide, or if a query sees no key at all: it gets the mean of all values.
class Reach {
public:
    Reach(const AttentionArguments& h, const Span& span)
        : T(span.t_end - span.t), S(span.s_end - span.s), shift_(span.t - span.s),
          before_(h.keys_before), after_(h.keys_after) {
        is_whole_ = span.mixed || before_ + after_ < 0 || shift_ + after_ < 0 ||
                    shift_ + T - 1 - before_ >= S;
    }

    // Whether a query sees all keys that `keys` returns for it alone.
    bool is_exact() const { return !is_whole_; }

    // The keys of queries i to i + count - 1.
    Range keys(int64_t i, int64_t count = 1) const {
        if (is_whole_) return {0, S};
        return {clip(shift_ + i - before_, S), clip(shift_ + i + count + after_, S)};
    }

    // The queries of keys j to j + count - 1.
    Range queries(int64_t j, int64_t count = 1) const {
        if (is_whole_) return {0, T};
        return {clip(j - after_ - shift_, T), clip(j + count + before_ - shift_, T)};
    }

    const int64_t T, S;

private:
    static int64_t clip(int64_t n, int64_t most) { return std::clamp<int64_t>(n, 0, most); }

    int64_t shift_, before_, after_;
    bool is_whole_;
};

// Write 1 for each key within reach of query i that it may attend to, and 0 for the rest of their vectors; 1 for
// all of them if there is none. Returns whether there is one.
inline bool find_visible_keys(const AttentionArguments& h, const Span& span, const Reach& reach, int64_t i,
                              float* allowed) {
    const Range near = reach.keys(i);
    std::fill(allowed + widened(near).from, allowed + widened(near).to, 0.0f);
    if (reach.is_exact()) {
        std::fill(allowed + near.from, allowed + near.to, 1.0f);
        return true;
    }
    float any = 0;
    for (int64_t j = near.from; j < near.to; j++) {
        const int64_t key = span.s + j, query = span.t + i;
        bool visible = key >= query - h.keys_before && key <= query + h.keys_after;
        if (span.mixed)
            visible &= h.key_segments[span.b * h.S + key] ==
                       (h.query_segments ? h.query_segments[span.b * h.T + query] : 1);
        allowed[j] = visible ? 1.0f : 0.0f;
        any += allowed[j];
    }
    if (any == 0) std::fill(allowed + near.from, allowed + near.to, 1.0f);
    return any > 0;
}

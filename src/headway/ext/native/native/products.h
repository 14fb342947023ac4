// Products of small matrices in the nearest cache, of which only a part may be needed.
#pragma once
#include <algorithm>
#include <cstdint>

#include "numbers.h"

using headway::whole_vectors;

// Numbers [from, to).
struct Range {
    int64_t from, to;
};

// For `product`: all columns, or all terms, for any rows.
inline auto all_of(int64_t count) {
    return [count](int64_t, int64_t) { return Range{0, count}; };
}

// The range with the rest of its first and last vectors.
inline Range widened(Range r) { return {r.from / LANES * LANES, whole_vectors(r.to)}; }

// Write zeros to a row of so many numbers, but not in the range.
inline void clear_outside(Range r, float* row, int64_t count) {
    std::fill(row, row + r.from, 0.0f);
    std::fill(row + r.to, row + count, 0.0f);
}

// Sixteen columns of ROWS rows of a product; l says which products are added up.
template <int ROWS>
inline void tile(Range l, const float* a, int64_t row, int64_t column, const float* b, int64_t b_row,
                 float* c, int64_t c_row) {
    Vector sums[ROWS];
    for (int64_t k = l.from; k < l.to; k++) {
        const Vector right = load(b + k * b_row);
#pragma GCC unroll 8
        for (int m = 0; m < ROWS; m++) sums[m] += a[m * row + k * column] * right;
    }
#pragma GCC unroll 8
    for (int m = 0; m < ROWS; m++) store(c + m * c_row, sums[m]);
}

// C = A B, where C has M rows, a few of which are computed at once. `row` and `column` are the strides of A.
// Not all of it may be needed: for the rows m to m + count - 1 of C, columns(m, count) returns the columns that are
// computed, widened to whole vectors, and terms(m, count) which products are added up in each of its numbers.
template <class Columns, class Terms>
inline void product(int64_t M, const float* a, int64_t row, int64_t column, const float* b, int64_t b_row,
                    float* c, int64_t c_row, Columns&& columns, Terms&& terms) {
    // Registers hold ROWS x REGISTERS sums, a vector of B and a number of A.
#if defined(__AVX512F__) && defined(__AVX512BW__)
    constexpr int ROWS = 8;
#elif defined(__AVX2__)
    constexpr int ROWS = 6;
#elif defined(__aarch64__)
    constexpr int ROWS = 4;
#else
    constexpr int ROWS = 2;
#endif
    typedef void (*Tile)(Range, const float*, int64_t, int64_t, const float*, int64_t, float*, int64_t);
    for (int64_t m = 0, rows; m < M; m += rows) {
        rows = M - m >= ROWS ? ROWS : M - m >= 2 ? 2 : 1;
        const Tile multiply = rows == ROWS ? tile<ROWS> : rows == 2 ? tile<2> : tile<1>;
        const Range wanted = columns(m, rows), l = terms(m, rows);
        for (int64_t n = widened(wanted).from; n < wanted.to; n += LANES)
            multiply(l, a + m * row, row, column, b + n, b_row, c + m * c_row + n, c_row);
    }
}

// Convert [rows, width] numbers to floats and pad each row with zeros.
template <typename T>
inline void gather(const T* x, int64_t rows, int64_t width, int64_t step, float* y, int64_t y_row) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < width; j++) y[i * y_row + j] = to_float(x[i * step + j]);
        for (int64_t j = width; j < y_row; j++) y[i * y_row + j] = 0;
    }
}

// Write floats to rows that are `step` apart; the reverse of `gather`.
template <typename T>
inline void scatter(const float* y, int64_t rows, int64_t width, int64_t y_row, T* x, int64_t step) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < width; j++) x[i * step + j] = from_float<T>(y[i * y_row + j]);
}

// Write [rows, width] numbers as [width, rows], and pad each new row with zeros.
inline void transpose(const float* x, int64_t rows, int64_t width, int64_t x_row, float* y,
                      int64_t y_row) {
    for (int64_t j = 0; j < width; j++) {
        for (int64_t i = 0; i < rows; i++) y[j * y_row + i] = x[i * x_row + j];
        for (int64_t i = rows; i < y_row; i++) y[j * y_row + i] = 0;
    }
}

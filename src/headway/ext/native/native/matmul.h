// Products of rows with packed weights: y[m, n] = sum over k of x[m, k] W[n, k].
//
// Each element is one sum over k in ascending order, for any number of rows: a row's result does not
// depend on the other rows, bit for bit.
//
// Shapes: M rows, N outputs, K inputs. Weights are stored in panels of PANEL outputs,
// [N / PANEL][G][PANEL] with G = K / (elements in 4 bytes). One step multiplies 4 bytes of a row,
// copied to all lanes, with the 4 bytes of each output.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "vector.h"

namespace headway {

// Registers hold MOST_ROWS x PARTS sums, a panel's weights and an input.
#if defined(__AVX512F__) && defined(__AVX512BW__)
constexpr int PARTS = 2, MOST_ROWS = 12;
#elif defined(__AVX2__)
constexpr int PARTS = 2, MOST_ROWS = 6;
#else
constexpr int PARTS = 4, MOST_ROWS = 3;
#endif
constexpr int PANEL = PARTS * WIDE;     // outputs of a panel
static_assert(PANEL % LANES == 0, "whole vectors come out");
static_assert(WIDTH_UNIT % PANEL == 0, "padded widths hold whole panels");

// fp32: 4 bytes are one float.
struct Single {
    static constexpr int GROUP = 1;
    typedef Floats Sum;
    HEADWAY_INLINE void add(Sum& sum, const Words& x, const Words& w) {
        sum += reinterpret_cast<const Floats&>(x) * reinterpret_cast<const Floats&>(w);
    }
};

// bf16: 4 bytes are two numbers, whose products are added in fp32.
#if defined(__AVX512BF16__)
struct Brain {
    static constexpr int GROUP = 2;
    typedef Floats Sum;
    HEADWAY_INLINE void add(Sum& sum, const Words& x, const Words& w) {
        sum = (Floats)_mm512_dpbf16_ps((__m512)sum, (__m512bh)x, (__m512bh)w);
    }
};
#endif

// int8: integer sums are exact, in any order.
struct Byte {
    typedef Words Sum;
#if defined(__AVX512VNNI__)
    static constexpr int GROUP = 4;  // inputs are unsigned: 128 is added to each
    HEADWAY_INLINE void add(Sum& sum, const Words& x, const Words& w) {
        sum = (Words)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)x, (__m512i)w);
    }
#elif defined(__AVX512BW__) && defined(__AVX512F__)
    static constexpr int GROUP = 2;
    HEADWAY_INLINE void add(Sum& sum, const Words& x, const Words& w) {
        sum += (Words)_mm512_madd_epi16((__m512i)x, (__m512i)w);
    }
#elif defined(__AVXVNNI__)
    static constexpr int GROUP = 4;
    HEADWAY_INLINE void add(Sum& sum, const Words& x, const Words& w) {
        sum = (Words)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)x, (__m256i)w);
    }
#elif defined(__AVX2__)
    static constexpr int GROUP = 2;  // 16 bits a number: the 8-bit product of AVX2 overflows
    HEADWAY_INLINE void add(Sum& sum, const Words& x, const Words& w) {
        sum += (Words)_mm256_madd_epi16((__m256i)x, (__m256i)w);
    }
#else
    static constexpr int GROUP = 1;
    HEADWAY_INLINE void add(Sum& sum, const Words& x, const Words& w) { sum += x * w; }
#endif
};

// The two sides of a product, in 4-byte words.
struct Rows {
    const int32_t* words;  // [M, stride]
    long stride;
    const float* scale;  // [M]; int8 only
};
struct Weights {
    const char* panels;
    long groups, width;      // G, and N padded to whole panels
    const float* scale;      // [N]; int8 only
    const int32_t* surplus;  // [N], 128 times the sum of the weights, for unsigned inputs; int8 only
};

// With few rows more columns are summed at once, because few sums do not hide an addition's latency.
constexpr int FEW = 4;
constexpr int flat(long rows) {
    const bool many = MOST_ROWS > 6;  // registers
    return rows == 1 ? 8 : rows == 2 && many ? 6 : rows <= 3 || many ? 4 : PARTS;
}

// The most sums of one tile.
constexpr int ROOM =
    WIDE * std::max({MOST_ROWS * PARTS, flat(1), 2 * flat(2), 3 * flat(3), FEW * flat(FEW)});

// ROWS x COLUMNS sums at once, all in registers; COLUMNS counts registers of WIDE outputs.
template <class Format, int ROWS, int COLUMNS>
static void tile(const Rows& x, long row, const Weights& w, long column, float* out) {
    static_assert(ROWS * COLUMNS * WIDE <= ROOM, "the sums fit into the output");
    typename Format::Sum sums[ROWS][COLUMNS] = {};
    const int32_t* in = x.words + row * x.stride;
    const long panel_bytes = w.groups * PARTS * REGISTER;
    const char* at = w.panels + column / PANEL * panel_bytes;
    for (long g = 0; g < w.groups; ++g, at += PARTS * REGISTER) {
        Words weights[COLUMNS];
#pragma GCC unroll 8
        for (int c = 0; c < COLUMNS; ++c)
            weights[c] = *reinterpret_cast<const Words*>(
                at + c / PARTS * panel_bytes + c % PARTS * REGISTER);
        if (ROWS <= 4)
            for (int p = 0; p < COLUMNS / PARTS; ++p)
                __builtin_prefetch(at + p * panel_bytes + 1024);
#pragma GCC unroll 16
        for (int r = 0; r < ROWS; ++r) {
            const Words input = Words{} + in[r * x.stride + g];
#pragma GCC unroll 8
            for (int c = 0; c < COLUMNS; ++c) Format::add(sums[r][c], input, weights[c]);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < ROWS; ++r)
#pragma GCC unroll 8
        for (int c = 0; c < COLUMNS; ++c) {
            Floats y;
            if constexpr (std::is_same_v<Format, Byte>) {
                const long n = column + c * WIDE;
                const Words exact =
                    sums[r][c] - *reinterpret_cast<const Words*>(w.surplus + n);
                y = __builtin_convertvector(exact, Floats) *
                    (x.scale[row + r] * *reinterpret_cast<const Floats*>(w.scale + n));
            } else {
                y = (Floats)sums[r][c];
            }
            *reinterpret_cast<Floats*>(out + (r * COLUMNS + c) * WIDE) = y;
        }
}

typedef void (*Tile)(const Rows&, long, const Weights&, long, float*);

template <class Format, size_t... I>
constexpr std::array<Tile, sizeof...(I)> tiles(std::index_sequence<I...>) {
    return {tile<Format, I + 1, PARTS>...};
}

// Call sink(row, rows, column, columns, y) with every tile y [rows, columns] of the product; a row's
// tiles come in ascending columns. The inputs of a block of rows stay in the cache.
template <class Format, class Sink>
static void multiply(const Rows& x, long rows, const Weights& w, Sink&& sink) {
    static constexpr auto TILES = tiles<Format>(std::make_index_sequence<MOST_ROWS>());
    alignas(64) float y[ROOM];
    long column = 0;
    if (rows == 0) return;
    if (rows <= FEW) {
        static constexpr Tile FLAT[] = {tile<Format, 1, flat(1)>, tile<Format, 2, flat(2)>,
                                        tile<Format, 3, flat(3)>, tile<Format, FEW, flat(FEW)>};
        const long columns = flat(rows) * WIDE;
        for (; column + columns <= w.width; column += columns) {
            FLAT[rows - 1](x, 0, w, column, y);
            sink(0L, rows, column, columns, y);
        }
    }
    const long block = std::max<long>(MOST_ROWS, (384 << 10) / (4 * x.stride) / MOST_ROWS * MOST_ROWS);
    for (long start = 0; start < rows; start += block) {
        const long end = std::min(rows, start + block);
        for (long n = column; n < w.width; n += PANEL)
            for (long row = start; row < end;) {
                const long left = end - row, tiles = (left + MOST_ROWS - 1) / MOST_ROWS;
                const long count = (left + tiles - 1) / tiles;
                TILES[count - 1](x, row, w, n, y);
                sink(row, count, n, long(PANEL), y);
                row += count;
            }
    }
}

}  // namespace headway

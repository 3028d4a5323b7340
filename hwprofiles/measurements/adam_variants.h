// The AdamW variants of adam_rates.cpp, in AVX-512.
#pragma once

#include <immintrin.h>

#include <cmath>
#include <map>

#include "adam_host.h"

struct Hyper {
    float lr = 1e-5f, beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f, decay = 0.01f;
    float correction1 = 1, correction2 = 1;  // 1 - beta^t
};

static inline __m512 load_bf16(const uint16_t* p) {
    const __m256i h = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

static inline void store_u16(uint16_t* p, __m512i lanes) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(lanes));
}

// Round to nearest, ties to even.
static inline void store_bf16(uint16_t* p, __m512 x) {
    const __m512i u = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    const __m512i r = _mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    store_u16(p, _mm512_srli_epi32(r, 16));
}

// Rounds up with the probability that the 16 random bits of each lane give.
static inline void store_bf16_random(uint16_t* p, __m512 x, __m512i random16) {
    const __m512i u = _mm512_add_epi32(_mm512_castps_si512(x), random16);
    store_u16(p, _mm512_srli_epi32(u, 16));
}

// fp32 bits = (high << 16) + sign-extended low; high is the value rounded to bf16.
static inline __m512 load_split(const uint16_t* high, const uint16_t* low) {
    const __m256i h = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(high));
    const __m256i l = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(low));
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16),
                                                _mm512_cvtepi16_epi32(l)));
}

static inline void store_split(uint16_t* high, uint16_t* low, __m512 x) {
    const __m512i u = _mm512_castps_si512(x);
    store_u16(high, _mm512_srli_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x8000)), 16));
    store_u16(low, u);
}

struct Scalars {
    __m512 beta1, rest1, beta2, rest2, keep, step, scale2, eps;
    explicit Scalars(const Hyper& h)
        : beta1(_mm512_set1_ps(h.beta1)),
          rest1(_mm512_set1_ps(1 - h.beta1)),
          beta2(_mm512_set1_ps(h.beta2)),
          rest2(_mm512_set1_ps(1 - h.beta2)),
          keep(_mm512_set1_ps(1 - h.lr * h.decay)),
          step(_mm512_set1_ps(h.lr / h.correction1)),
          scale2(_mm512_set1_ps(1 / std::sqrt(h.correction2))),
          eps(_mm512_set1_ps(h.eps)) {}

    inline __m512 update(__m512 p, __m512 g, __m512& m, __m512& v) const {
        m = _mm512_fmadd_ps(beta1, m, _mm512_mul_ps(rest1, g));
        v = _mm512_fmadd_ps(beta2, v, _mm512_mul_ps(rest2, _mm512_mul_ps(g, g)));
        const __m512 below = _mm512_fmadd_ps(_mm512_sqrt_ps(v), scale2, eps);
        return _mm512_fnmadd_ps(step, _mm512_div_ps(m, below), _mm512_mul_ps(keep, p));
    }
};

struct State {
    Array<uint16_t> high, low, grad, m16, v16;
    Array<float> m, v;
};

static void adam_bf16(State& s, size_t begin, size_t end, const Hyper& h, __m512i&) {
    const Scalars k(h);
    uint16_t *p = s.high.data, *g = s.grad.data;
    float *m = s.m.data, *v = s.v.data;
    for (size_t i = begin; i < end; i += 16) {
        __m512 mi = _mm512_loadu_ps(m + i), vi = _mm512_loadu_ps(v + i);
        const __m512 x = k.update(load_bf16(p + i), load_bf16(g + i), mi, vi);
        _mm512_storeu_ps(m + i, mi);
        _mm512_storeu_ps(v + i, vi);
        store_bf16(p + i, x);
    }
}

static void adam_split(State& s, size_t begin, size_t end, const Hyper& h, __m512i&) {
    const Scalars k(h);
    uint16_t *high = s.high.data, *low = s.low.data, *g = s.grad.data;
    float *m = s.m.data, *v = s.v.data;
    for (size_t i = begin; i < end; i += 16) {
        __m512 mi = _mm512_loadu_ps(m + i), vi = _mm512_loadu_ps(v + i);
        const __m512 x = k.update(load_split(high + i, low + i), load_bf16(g + i), mi, vi);
        _mm512_storeu_ps(m + i, mi);
        _mm512_storeu_ps(v + i, vi);
        store_split(high + i, low + i, x);
    }
}

static void adam_split16(State& s, size_t begin, size_t end, const Hyper& h, __m512i& random) {
    const Scalars k(h);
    uint16_t *high = s.high.data, *low = s.low.data, *g = s.grad.data;
    uint16_t *m = s.m16.data, *v = s.v16.data;
    __m512i r = random;
    const __m512i mask = _mm512_set1_epi32(0xffff);
    for (size_t i = begin; i < end; i += 16) {
        __m512 mi = load_bf16(m + i), vi = load_bf16(v + i);
        const __m512 x = k.update(load_split(high + i, low + i), load_bf16(g + i), mi, vi);
        r = _mm512_xor_si512(r, _mm512_slli_epi32(r, 13));  // xorshift32 in every lane
        r = _mm512_xor_si512(r, _mm512_srli_epi32(r, 17));
        r = _mm512_xor_si512(r, _mm512_slli_epi32(r, 5));
        store_bf16_random(m + i, mi, _mm512_and_si512(r, mask));
        store_bf16_random(v + i, vi, _mm512_srli_epi32(r, 16));
        store_split(high + i, low + i, x);
    }
    random = r;
}

struct Variant {
    void (*kernel)(State&, size_t, size_t, const Hyper&, __m512i&);
    int bytes;
    bool low, wide;  // uses the low plane; uses fp32 moments
};

static const std::map<string, Variant> variants = {
    {"bf16", {adam_bf16, 22, false, true}},
    {"split", {adam_split, 26, true, true}},
    {"split16", {adam_split16, 18, true, false}},
};

// Allocates what the variant needs, each page first touched with random data by
// the threads that share the array evenly.
static void prepare(State& s, const Variant& variant, size_t n) {
    const auto fill = [&](auto& array, auto value) {
        if (array.data) return;
        array.reserve(n);
        const int threads = cpu_count();
        on_threads(threads, [&](int t) {
            size_t begin, end;
            share(n, t, threads, &begin, &end);
            Random random(t + 1);
            for (size_t i = begin; i < end; ++i) array.data[i] = value(random);
        });
    };
    const auto small = [](Random& r) { return to_bf16(0.02f * r.normal()); };
    fill(s.high, small);
    fill(s.grad, small);
    if (variant.low) fill(s.low, [](Random& r) { return uint16_t(r.next() >> 20); });
    if (variant.wide) {
        fill(s.m, [](Random& r) { return 0.01f * r.normal(); });
        fill(s.v, [](Random& r) {
            const float x = 0.02f * r.normal();
            return x * x + 1e-9f;
        });
    } else {
        fill(s.m16, [](Random& r) { return to_bf16(0.01f * r.normal()); });
        fill(s.v16, [](Random& r) {
            const float x = 0.02f * r.normal();
            return to_bf16(x * x + 1e-9f);
        });
    }
}

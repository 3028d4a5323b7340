// Rates of AdamW and of plain memory traffic on the host's cores.
//
// Build:  g++ -O3 -march=native -pthread adam_rates.cpp -o adam_rates
// Use:    adam_rates --mode adam --variant split --threads 12 --seconds 4
//         adam_rates --mode dram --kind copy_nt --threads 8 --seconds 1
//         adam_rates --mode touch --gb 16 --threads 16 --pages huge
//         adam_rates --mode check
//         adam_rates --mode serve        (one command a line on standard input)
//
// Every result is one line of JSON on standard output. Times are CLOCK_MONOTONIC,
// so another process can count its own work over the same window.
//
// AdamW variants, with the bytes that one update of one parameter moves:
//   bf16      bf16 parameter read and written, bf16 gradient read,
//             fp32 moments read and written                          22 bytes
//   split     fp32 parameter kept as two 16-bit planes (the upper one is the
//             parameter rounded to bf16), both read and written,
//             bf16 gradient read, fp32 moments read and written      26 bytes
//   split16   as split with bf16 moments, rounded stochastically     18 bytes

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using std::size_t;
using std::string;

static double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int cpu_count() { return static_cast<int>(std::thread::hardware_concurrency()); }

static void pin_to(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu % cpu_count(), &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

// Runs body(thread) on `threads` pinned threads and waits for all of them.
static void on_threads(int threads, const std::function<void(int)>& body) {
    std::vector<std::thread> pool;
    for (int i = 0; i < threads; ++i)
        pool.emplace_back([&, i] {
            pin_to(i);
            body(i);
        });
    for (auto& thread : pool) thread.join();
}

// A spinning barrier; the last thread to arrive runs `last` before any goes on.
class Barrier {
  public:
    explicit Barrier(int threads) : threads_(threads) {}
    template <class F>
    void wait(F last) {
        const int round = round_.load(std::memory_order_acquire);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
            last();
            arrived_.store(0, std::memory_order_relaxed);
            round_.store(round + 1, std::memory_order_release);
            return;
        }
        for (int spin = 0; round_.load(std::memory_order_acquire) == round; ++spin) {
            if (spin < 20000)
                _mm_pause();
            else
                sched_yield();
        }
    }

  private:
    const int threads_;
    std::atomic<int> arrived_{0}, round_{0};
};

static void* map_bytes(size_t bytes, bool huge) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    madvise(p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return p;
}

template <class T>
struct Array {
    T* data = nullptr;
    size_t count = 0;
    void reserve(size_t n) {
        if (data) return;
        count = n;
        data = static_cast<T*>(map_bytes(n * sizeof(T), true));
    }
};

// Thread i's share of [0, count), in multiples of 64 elements.
static void share(size_t count, int i, int threads, size_t* begin, size_t* end) {
    const size_t blocks = count / 64;
    *begin = blocks * i / threads * 64;
    *end = blocks * (i + 1) / threads * 64;
}

// ---------------------------------------------------------------- random data

struct Random {
    uint64_t state;
    explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15ull + 0x1234567ull) {}
    uint64_t next() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
    }
    // Nearly normal, mean 0 and deviation 1: the sum of four 16-bit uniforms.
    float normal() {
        const uint64_t r = next();
        const int sum =
            int(r & 0xffff) + int(r >> 16 & 0xffff) + int(r >> 32 & 0xffff) + int(r >> 48);
        return (sum - 131070.0f) * (1.0f / 37837.0f);
    }
};

static uint32_t bits_of(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}

static float float_of(uint32_t u) {
    float x;
    memcpy(&x, &u, 4);
    return x;
}

static uint16_t to_bf16(float x) {
    const uint32_t u = bits_of(x);
    return uint16_t((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static float from_bf16(uint16_t h) { return float_of(uint32_t(h) << 16); }

// ---------------------------------------------------------------- AdamW

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

// ---------------------------------------------------------------- timed loops

struct Times {
    double begin = 0;          // the window's start
    std::vector<double> ends;  // when each later chunk was finished
};

// Repeats chunk(step, thread) on all threads, a barrier after each, for `warm`
// seconds and then for a window of at least `seconds`.
static Times repeat(int threads, double warm, double seconds,
                    const std::function<void(size_t, int)>& chunk) {
    Barrier barrier(threads);
    std::atomic<bool> stop{false};
    Times times;
    const double start = now();
    on_threads(threads, [&](int t) {
        for (size_t step = 0; !stop.load(std::memory_order_relaxed); ++step) {
            chunk(step, t);
            barrier.wait([&] {
                const double at = now();
                if (times.begin == 0) {
                    if (at >= start + warm) times.begin = at;
                } else {
                    times.ends.push_back(at);
                    if (at >= times.begin + seconds) stop = true;
                }
            });
        }
    });
    return times;
}

static string summary(const Times& times, double amount, const string& unit) {
    std::vector<double> rates;
    double last = times.begin;
    for (double end : times.ends) {
        rates.push_back(amount / (end - last) / 1e9);
        last = end;
    }
    std::sort(rates.begin(), rates.end());
    char text[512];
    snprintf(text, sizeof text,
             "\"%s\": %.4f, \"chunk_median\": %.4f, \"chunk_min\": %.4f, \"chunk_max\": %.4f, "
             "\"chunks\": %zu, \"t_begin\": %.6f, \"t_end\": %.6f",
             unit.c_str(), amount * rates.size() / (last - times.begin) / 1e9,
             rates[rates.size() / 2], rates.front(), rates.back(), rates.size(), times.begin, last);
    return text;
}

static void run_adam(State& state, const string& name, int threads, double seconds, double warm,
                     size_t params, size_t chunk) {
    const Variant& variant = variants.at(name);
    prepare(state, variant, params);
    chunk = std::min(chunk, params);
    const size_t chunks = params / chunk;
    struct alignas(64) Lanes {
        __m512i random;
    };
    std::vector<Lanes> lanes(threads);
    for (int t = 0; t < threads; ++t) {
        alignas(64) uint32_t seed[16];
        Random random(1000 + t);
        for (auto& x : seed) x = uint32_t(random.next() >> 16) | 1;
        lanes[t].random = _mm512_load_si512(seed);
    }
    const Times times = repeat(threads, warm, seconds, [&](size_t step, int t) {
        size_t begin, end;
        share(chunk, t, threads, &begin, &end);
        const size_t base = step % chunks * chunk;
        Hyper h;
        const double pass = 100 + double(step / chunks);
        h.correction1 = float(1 - std::pow(h.beta1, pass));
        h.correction2 = float(1 - std::pow(h.beta2, pass));
        variant.kernel(state, base + begin, base + end, h, lanes[t].random);
    });
    printf("{\"variant\": \"%s\", \"threads\": %d, \"bytes_per_param\": %d, \"params\": %zu, %s}\n",
           name.c_str(), threads, variant.bytes, params,
           summary(times, double(chunk), "gparams_per_s").c_str());
    fflush(stdout);
}

struct Arrays {
    Array<float> a, b, c;
};

static void run_dram(Arrays& arrays, const string& kind, int threads, double seconds) {
    const size_t n = size_t(1) << 29;  // 2 GiB in each array
    if (!arrays.a.data) {
        for (auto* array : {&arrays.a, &arrays.b, &arrays.c}) {
            array->reserve(n);
            on_threads(cpu_count(), [&](int t) {
                size_t begin, end;
                share(n, t, cpu_count(), &begin, &end);
                Random random(t + 7);
                for (size_t i = begin; i < end; ++i) array->data[i] = random.normal();
            });
        }
    }
    float *a = arrays.a.data, *b = arrays.b.data, *c = arrays.c.data;
    std::atomic<int> sink{0};
    std::function<void(size_t, size_t)> body;
    double bytes = 0;
    if (kind == "read") {
        bytes = 4.0 * n;
        body = [=, &sink](size_t begin, size_t end) {
            __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
            for (size_t i = begin; i < end; i += 64) {
                s0 = _mm512_add_ps(s0, _mm512_load_ps(a + i));
                s1 = _mm512_add_ps(s1, _mm512_load_ps(a + i + 16));
                s2 = _mm512_add_ps(s2, _mm512_load_ps(a + i + 32));
                s3 = _mm512_add_ps(s3, _mm512_load_ps(a + i + 48));
            }
            const float s =
                _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(s0, s1), _mm512_add_ps(s2, s3)));
            if (s == 12345.678f) sink = 1;
        };
    } else if (kind == "copy" || kind == "copy_nt") {
        bytes = 8.0 * n;
        const bool stream = kind == "copy_nt";
        body = [=](size_t begin, size_t end) {
            if (stream) {
                for (size_t i = begin; i < end; i += 16)
                    _mm512_stream_ps(b + i, _mm512_load_ps(a + i));
                _mm_sfence();
            } else {
                for (size_t i = begin; i < end; i += 16)
                    _mm512_store_ps(b + i, _mm512_load_ps(a + i));
            }
        };
    } else if (kind == "triad") {
        bytes = 12.0 * n;
        body = [=](size_t begin, size_t end) {
            const __m512 k = _mm512_set1_ps(0.5f);
            for (size_t i = begin; i < end; i += 16)
                _mm512_store_ps(c + i,
                                _mm512_fmadd_ps(k, _mm512_load_ps(b + i), _mm512_load_ps(a + i)));
        };
    } else {
        fprintf(stderr, "unknown kind %s\n", kind.c_str());
        exit(2);
    }
    const Times times = repeat(threads, 0.1, seconds, [&](size_t, int t) {
        size_t begin, end;
        share(n, t, threads, &begin, &end);
        body(begin, end);
    });
    printf("{\"kind\": \"%s\", \"threads\": %d, %s}\n", kind.c_str(), threads,
           summary(times, bytes, "gb_per_s").c_str());
    fflush(stdout);
}

// Writes one word of every 4 KiB page of fresh memory, then unmaps it.
static void run_touch(double gb, int threads, bool huge) {
    const size_t bytes = size_t(gb * 1e9) & ~size_t(0x1fffff);
    char* p = static_cast<char*>(map_bytes(bytes, huge));
    const double start = now();
    on_threads(threads, [&](int t) {
        size_t begin, end;
        share(bytes >> 12, t, threads, &begin, &end);
        if (t == threads - 1) end = bytes >> 12;
        for (size_t page = begin; page < end; ++page) p[page << 12] = char(page | 1);
    });
    const double touched = now();
    munmap(p, bytes);
    const double done = now();
    printf(
        "{\"threads\": %d, \"pages\": \"%s\", \"bytes\": %zu, \"touch_gb_per_s\": %.3f, "
        "\"unmap_gb_per_s\": %.3f}\n",
        threads, huge ? "huge" : "4KiB", bytes, bytes / (touched - start) / 1e9,
        bytes / (done - touched) / 1e9);
    fflush(stdout);
}

// Compares one step of every variant with the same step in double precision.
static int check() {
    const size_t n = 1 << 16;
    int bad = 0;
    for (const auto& [name, variant] : variants) {
        State s;
        prepare(s, variant, n);
        const bool wide = variant.wide;
        std::vector<double> p(n), g(n), m(n), v(n);
        for (size_t i = 0; i < n; ++i) {
            const uint32_t whole = (uint32_t(s.high.data[i]) << 16) +
                                   (variant.low ? uint32_t(int32_t(int16_t(s.low.data[i]))) : 0u);
            p[i] = float_of(whole);
            g[i] = from_bf16(s.grad.data[i]);
            m[i] = wide ? s.m.data[i] : from_bf16(s.m16.data[i]);
            v[i] = wide ? s.v.data[i] : from_bf16(s.v16.data[i]);
        }
        Hyper h;
        h.lr = 1e-3f;
        h.correction1 = 0.4f;
        h.correction2 = 0.01f;
        __m512i random = _mm512_set_epi32(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
        variant.kernel(s, 0, n, h, random);
        double worst_p = 0, worst_m = 0, worst_v = 0, bias = 0;
        for (size_t i = 0; i < n; ++i) {
            const double mi = double(h.beta1) * m[i] + double(1 - h.beta1) * g[i];
            const double vi = double(h.beta2) * v[i] + double(1 - h.beta2) * g[i] * g[i];
            const double x =
                p[i] * double(1 - h.lr * h.decay) -
                double(h.lr / h.correction1) * mi / (std::sqrt(vi / h.correction2) + h.eps);
            const double got_m = wide ? s.m.data[i] : from_bf16(s.m16.data[i]);
            const double got_v = wide ? s.v.data[i] : from_bf16(s.v16.data[i]);
            const uint32_t whole = (uint32_t(s.high.data[i]) << 16) +
                                   (variant.low ? uint32_t(int32_t(int16_t(s.low.data[i]))) : 0u);
            worst_p = std::max(worst_p, std::fabs(float_of(whole) - x) / (std::fabs(x) + 1e-3));
            worst_m = std::max(worst_m, std::fabs(got_m - mi) / (std::fabs(mi) + 1e-3));
            worst_v = std::max(worst_v, std::fabs(got_v - vi) / vi);
            bias += (got_v - vi) / vi / n;
        }
        const double limit_p = variant.low ? 1e-5 : 4e-3, limit_s = wide ? 1e-5 : 8e-3;
        const bool ok =
            worst_p < limit_p && worst_m < limit_s && worst_v < limit_s && std::fabs(bias) < 1e-4;
        printf(
            "{\"check\": \"%s\", \"param_error\": %.2e, \"m_error\": %.2e, \"v_error\": %.2e, "
            "\"v_bias\": %.2e, \"ok\": %s}\n",
            name.c_str(), worst_p, worst_m, worst_v, bias, ok ? "true" : "false");
        bad += !ok;
    }
    return bad;
}

static int serve(State& state, Arrays& arrays, size_t params, size_t chunk) {
    string line;
    while (std::getline(std::cin, line)) {
        std::istringstream in(line);
        string what, name;
        int threads = 1;
        double seconds = 1, warm = 0.3;
        in >> what;
        if (what == "quit") return 0;
        if (what == "prepare") {
            in >> name;
            prepare(state, variants.at(name), params);
            puts("{\"ready\": true}");
            fflush(stdout);
        } else if (what == "adam") {
            in >> name >> threads >> seconds >> warm;
            run_adam(state, name, threads, seconds, warm, params, chunk);
        } else if (what == "dram") {
            in >> name >> threads >> seconds;
            run_dram(arrays, name, threads, seconds);
        } else {
            fprintf(stderr, "unknown command: %s\n", line.c_str());
            return 2;
        }
    }
    return 0;
}

int main(int argc, char** argv) {
    std::map<string, string> option = {
        {"mode", "adam"}, {"variant", "split"}, {"kind", "read"},         {"threads", "1"},
        {"seconds", "2"}, {"warm", "0.3"},      {"params", "1000000000"}, {"chunk", "125000000"},
        {"gb", "8"},      {"pages", "huge"}};
    for (int i = 1; i + 1 < argc; i += 2) {
        const string key = argv[i] + (strncmp(argv[i], "--", 2) ? 0 : 2);
        if (!option.count(key)) {
            fprintf(stderr, "unknown option %s\n", argv[i]);
            return 2;
        }
        option[key] = argv[i + 1];
    }
    const string mode = option["mode"];
    const int threads = atoi(option["threads"].c_str());
    const double seconds = atof(option["seconds"].c_str());
    const size_t params = size_t(atof(option["params"].c_str())) & ~size_t(63);
    const size_t chunk = size_t(atof(option["chunk"].c_str())) & ~size_t(63);
    State state;
    Arrays arrays;
    if (mode == "check") return check();
    if (mode == "serve") return serve(state, arrays, params, chunk);
    if (mode == "touch")
        run_touch(atof(option["gb"].c_str()), threads, option["pages"] == "huge");
    else if (mode == "dram")
        run_dram(arrays, option["kind"], threads, seconds);
    else if (mode == "adam") {
        // Prints a line for every window, so that a background run shows its rate.
        const double window = std::min(seconds, 1.0);
        const double until = now() + seconds;
        prepare(state, variants.at(option["variant"]), params);
        do
            run_adam(state, option["variant"], threads, window, atof(option["warm"].c_str()),
                     params, chunk);
        while (now() < until);
    } else {
        fprintf(stderr, "unknown mode %s\n", mode.c_str());
        return 2;
    }
    return 0;
}

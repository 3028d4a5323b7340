// The timed loops of adam_rates.cpp: AdamW, plain memory traffic, first touch.
#pragma once

#include "adam_variants.h"

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

// Threads, memory and random data of adam_rates.cpp.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
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

// How fast is AdamW on this host, as a whole and in its two parts? By bytes of state; see
// engine/measurements/adam-parts.txt.
// usage: sluice_adam_bench PARAMETERS THREADS
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <vector>

#include "engine/optimizer/adamw.h"
#include "engine/optimizer/adamw_implementation.h"

using namespace sluice;

namespace {

constexpr int kCalls = 7;

/// Arrays in huge pages that the threads of the pool touch first, as in training.
class Arrays {
  public:
    std::byte* take(std::int64_t bytes) {
        constexpr std::size_t kPage = std::size_t{1} << 21;
        const auto size = (static_cast<std::size_t>(bytes) + kPage - 1) / kPage * kPage;
        memory_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(kPage, size)), &std::free);
        return memory_.back().get();
    }

  private:
    std::vector<std::unique_ptr<std::byte, void (*)(void*)>> memory_;
};

void fill(ThreadPool& pool, const ParameterBlock& block, std::uint16_t* gradient) {
    constexpr std::uint16_t kSmallBf16 = 0x3a00;
    const std::int64_t moment = block.precision().moment_bytes;
    pool.parallel_for(
        block.count, std::int64_t{1} << 14, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                set_master(block, i, 0.01F * static_cast<float>(i % 100 - 50));
                gradient[i] = static_cast<std::uint16_t>(kSmallBf16 + i % 64);
            }
            for (void* moments : {block.first_moment, block.second_moment})
                std::fill_n(static_cast<std::byte*>(moments) + begin * moment,
                            (end - begin) * moment, std::byte{0});
            for (float* scales : {block.first_scale, block.second_scale})
                for (std::int64_t i = begin; scales != nullptr && i < end; i += kMomentBlock)
                    scales[i / kMomentBlock] = 0;
        });
}

void measure(ThreadPool& pool, int threads, std::int64_t count, int state_bytes) {
    Arrays arrays;
    const ParameterBlock block =
        placed_block(count, state_bytes, [&](std::int64_t bytes) { return arrays.take(bytes); });
    auto* const gradient = reinterpret_cast<std::uint16_t*>(arrays.take(2 * count));
    fill(pool, block, gradient);
    const DecayRange all = {0, count, true};
    struct Part {
        UpdatePass pass;
        const char* name;
        std::vector<double> seconds{};
    };
    std::vector<Part> parts = {{UpdatePass::update, "update"}};
    if (!block.precision().has_scales()) {
        parts.push_back({UpdatePass::parameters, "parameters"});
        parts.push_back({UpdatePass::moments, "moments"});
    }
    for (int call = 1; call <= kCalls; ++call)
        for (Part& part : parts) {
            AdamWStep step;
            step.step = call;
            const auto begin = std::chrono::steady_clock::now();
            adamw(pool, part.pass, step, block, {&all, 1}, {.bf16 = gradient});
            part.seconds.push_back(
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        }
    for (Part& part : parts) {
        std::ranges::sort(part.seconds);
        const auto rate = [&](int rank) {
            return static_cast<double>(count) / part.seconds[static_cast<std::size_t>(rank)] / 1e9;
        };
        fmt::print("{}, {} threads, {} bytes, {}: {:.2f} Gparam/s ({:.2f} to {:.2f})\n",
                   adamw_implementations().front().name, threads, state_bytes, part.name,
                   rate(kCalls / 2), rate(kCalls - 2), rate(1));
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        fmt::print(stderr, "usage: sluice_adam_bench PARAMETERS THREADS, such as 536870912 12\n");
        return 2;
    }
    const int threads = std::atoi(arguments[2]);
    ThreadPool pool(threads);
    for (const StatePrecision& precision : kStatePrecisions)
        measure(pool, threads, std::atoll(arguments[1]), precision.bytes);
    return 0;
}

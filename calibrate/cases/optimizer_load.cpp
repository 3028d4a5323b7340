#include "calibrate/cases/optimizer_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "calibrate/cases/case_host.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

/// Parameters of a block: 2 ms of 16 threads, so that waking them (0.01 ms) is negligible; fewer
/// for few threads, so that a call is short against a window of 0.1 s.
constexpr std::int64_t kBlock = std::int64_t{15} << 20;
constexpr std::int64_t kBlockOfFewThreads = std::int64_t{3} << 20;
constexpr int kFewThreads = 4;

constexpr double kMostLoadBytes = 1.8e9;
constexpr double kMostShareOfBudget = 0.08;

// With a GPU, blocks are spread over this much memory, like parameters in training. Pages differ:
// Adam on 1.8 GB in one place was 15 to 30% slower in some processes than in others minutes apart
// (H200, virtual machine), and than in training, which uses all of it.
constexpr double kSpreadShare = 0.75, kMostSpreadBytes = 100e9;
constexpr std::int64_t kMostBlocks = 36;
// Limit for enlarged blocks, since filling them takes longer than measuring.
constexpr std::int64_t kMostParameters = std::int64_t{640} << 20;
constexpr Bytes kLoadPage = 4096;
// Arrays of a layer begin anywhere within a page. At the same place of a page, a load seems to
// depend on an earlier store to another array (they differ only in bits above the 12th), and all
// arrays compete for the same cache lines.
constexpr Bytes kStagger = 832, kMostArrays = 8;

constexpr float kParameterDeviation = 0.02F;
constexpr float kGradientDeviation = 1e-3F;
constexpr std::int64_t kChecked = 1024;

Bytes scale_bytes(std::int64_t count) {
    return (count / kMomentBlock) * static_cast<Bytes>(sizeof(float));
}

/// Bytes of state and gradient. `count` is a multiple of kMomentBlock.
Bytes block_bytes(std::int64_t count, int state_bytes) {
    return count * (state_bytes + kBf16) +
           (state_precision(state_bytes).has_scales() ? 2 * scale_bytes(count) : 0) +
           kMostArrays * kStagger;
}

/// Places the arrays of a block one after another from `memory` on; the gradient follows them.
ParameterBlock place_block(char* memory, std::int64_t count, int state_bytes) {
    return placed_block(count, state_bytes, [&memory](Bytes bytes) {
        return std::exchange(memory, memory + bytes + kStagger);
    });
}

/// Memory of the nodes, or of the machine if that is not known; at most the free part.
double memory_of(const HostFacts& host, const std::vector<int>& nodes) {
    Bytes bytes = 0;
    for (const int id : nodes) {
        const NumaNode* const node = host.node(id);
        if (node == nullptr || !node->memory) return 0;
        bytes += *node->memory;
    }
    // Includes a container's limit.
    const Bytes whole = host_memory_capacity(host).value_or(bytes);
    bytes = nodes.empty() ? whole : std::min(bytes, whole);
    return static_cast<double>(std::min(bytes, host.memory_available.value_or(bytes)));
}

Bytes memory_bytes(const Bench& bench, const std::vector<int>& nodes) {
    const auto budget = static_cast<double>(host_memory_budget(bench.host));
    const double capacity = memory_of(bench.host, nodes);
    const double in_one_place = std::min(kMostLoadBytes, kMostShareOfBudget * budget);
    if (!bench.device_facts.is_gpu || bench.quick) return static_cast<Bytes>(in_one_place);
    return static_cast<Bytes>(
        std::max(in_one_place, std::min(kMostSpreadBytes, kSpreadShare * capacity)));
}

}  // namespace

void OptimizerLoad::set(int state_bytes, int threads) {
    set(state_bytes, threads, optimizer_cpus(bench_, threads));
}

void OptimizerLoad::set(int state_bytes, int threads, const std::vector<int>& cpus) {
    pool_ = std::make_unique<ThreadPool>(threads, cpus);
    const std::vector<int> nodes = nodes_of(bench_.host, cpus);
    const bool stays = memory_.bytes() > 0 && nodes == nodes_;
    if (stays && state_bytes == state_bytes_ && enlarged_ == 1) return;
    if (!stays) {
        memory_ = HostRegion();  // frees the old one first, since both at once may be too much
        memory_ = HostRegion(memory_bytes(bench_, nodes),
                             "parameters to measure the optimizer with", *pool_);
    }
    state_bytes_ = state_bytes;
    nodes_ = nodes;
    enlarged_ = 1;
    make_parameters();
}

bool OptimizerLoad::enlarge_blocks(int times) {
    if (memory_.bytes() / block_bytes(times * usual_block(), state_bytes_) < 2) return false;
    enlarged_ = times;
    make_parameters();
    return true;
}

std::int64_t OptimizerLoad::usual_block() const {
    return bench_.optimizer_threads <= kFewThreads ? kBlockOfFewThreads : kBlock;
}

void OptimizerLoad::clear(char* memory, Bytes bytes) {
    pool_->parallel_for(bytes, kMiB, [&](std::int64_t begin, std::int64_t end) {
        std::memset(memory + begin, 0, static_cast<std::size_t>(end - begin));
    });
}

void OptimizerLoad::make_parameters() {
    blocks_.clear();
    gradients_.clear();
    first_masters_.clear();
    updates_ = 0;
    const std::int64_t count = enlarged_ * usual_block();
    const Bytes each = block_bytes(count, state_bytes_);
    std::int64_t blocks = std::min<std::int64_t>(kMostBlocks, memory_.bytes() / each);
    if (enlarged_ > 1) blocks = std::clamp<std::int64_t>(kMostParameters / count, 2, blocks);
    for (std::int64_t i = 0; i < blocks; ++i) {
        const Bytes offset = i * (memory_.bytes() / blocks) / kLoadPage * kLoadPage;
        char* const memory = memory_.data() + offset;
        clear(memory, each);
        const ParameterBlock block = place_block(memory, count, state_bytes_);
        auto* const gradient =
            reinterpret_cast<std::uint16_t*>(memory + each - kBf16 * count - kStagger);
        const auto seed = static_cast<std::uint64_t>(offset);
        // Lower planes stay 0; the gradients make moments grow.
        fill_normal(*pool_, block.high, count, kParameterDeviation, seed);
        fill_normal(*pool_, gradient, count, kGradientDeviation, seed + 1);
        blocks_.push_back(block);
        gradients_.push_back(gradient);
    }
    if (blocks_.empty())
        throw InputError(fmt::format(
            "host memory: {} MB are too little to measure the optimizer with, expected {} or more",
            memory_.bytes() / 1'000'000, each / 1'000'000));
    for (std::int64_t i = 0; i < kChecked; ++i)
        first_masters_.push_back(master_of(blocks_.front(), i));
}

std::int64_t OptimizerLoad::parameters_per_update() const { return blocks_.front().count; }

void OptimizerLoad::update() {
    const auto blocks = static_cast<std::int64_t>(blocks_.size());
    const auto i = static_cast<std::size_t>(updates_ % blocks);
    AdamWStep step;
    step.learning_rate = 1e-5F;
    step.step = 1 + updates_ / blocks;
    ++updates_;
    const ParameterBlock& block = blocks_[i];
    const DecayRange all{0, block.count, true};
    adamw(*pool_, UpdatePass::update, step, block, {&all, 1}, {gradients_[i], nullptr});
}

void OptimizerLoad::check_result() const {
    std::int64_t changed = 0, finite = 0;
    for (std::int64_t i = 0; i < kChecked; ++i) {
        const float master = master_of(blocks_.front(), i);
        changed += master != first_masters_[static_cast<std::size_t>(i)];
        finite += std::isfinite(master);
    }
    // Most updates are below the least bit of a master of 16 bits, which few of them then change.
    const bool is_coarse = state_precision(state_bytes_).low_bytes == 0;
    const std::int64_t least_changed = is_coarse ? kChecked / 10 : kChecked * 9 / 10;
    if (finite < kChecked || changed < least_changed)
        throw InternalError(fmt::format(
            "the measured optimizer with {} bytes of state left {} of {} parameters as they were "
            "and {} not finite",
            state_bytes_, kChecked - changed, kChecked, kChecked - finite));
}

}  // namespace sluice

#include "sim/report/lane_blocks.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sluice {
namespace {

constexpr Seconds kRounding = 1e-9;  // less is rounding

/// Adds the operation's parts within [0, step), from all steps in which it shows there.
void add_parts(std::vector<Block>& blocks, OperationId id, Family family,
               OperationInterval interval, Seconds step) {
    const auto first_turn = static_cast<std::int64_t>(std::floor(interval.start / step));
    const auto last_turn = static_cast<std::int64_t>(std::ceil(interval.end / step));
    for (std::int64_t turn = first_turn; turn < last_turn; ++turn) {
        const Seconds shift = static_cast<double>(turn) * step;
        const Seconds start = std::max(0.0, interval.start - shift);
        const Seconds end = std::min(step, interval.end - shift);
        if (end - start > kRounding) blocks.push_back({start, end, end - start, id, id, 1, family});
    }
}

/// Collects neighbours; knows which family took most of the time.
class ShortRun {
  public:
    bool empty() const { return run_.count == 0; }
    Seconds start() const { return run_.start; }

    void add(const Block& block) {
        if (empty()) run_ = {block.start, block.end, 0, block.first, block.last, 0, block.family};
        run_.end = block.end;
        run_.busy += block.busy;
        run_.last = block.last;
        run_.count += block.count;
        of_family_[static_cast<std::size_t>(block.family)] += block.busy;
    }

    Block take() {
        run_.family = static_cast<Family>(std::max_element(of_family_.begin(), of_family_.end()) -
                                          of_family_.begin());
        const Block block = run_;
        *this = ShortRun();
        return block;
    }

  private:
    Block run_{.count = 0};
    std::array<Seconds, kFamilyCount> of_family_{};
};

}  // namespace

Family family_of(OperationKind kind) {
    switch (kind) {
        case OperationKind::copy_embeddings_in:
        case OperationKind::copy_weights_in:
        case OperationKind::read_weights:
        case OperationKind::write_weights:
        case OperationKind::all_gather:
            return Family::weights;
        case OperationKind::copy_checkpoint_in:
        case OperationKind::copy_checkpoint_out:
            return Family::checkpoints;
        case OperationKind::forward:
            return Family::forward;
        case OperationKind::backward:
        case OperationKind::embedding_backward:
            return Family::backward;
        case OperationKind::loss:
            return Family::loss;
        case OperationKind::copy_gradients_out:
        case OperationKind::copy_gradients_in:
        case OperationKind::scatter_embeddings:
        case OperationKind::collect_gradients:
        case OperationKind::write_gradients:
        case OperationKind::reduce_scatter:
        case OperationKind::all_reduce:
        case OperationKind::join_gradients:
            return Family::gradients;
        case OperationKind::update:
            return Family::update;
        case OperationKind::unflatten:
        case OperationKind::gather_embeddings:
        case OperationKind::clip_gradients:
        case OperationKind::copy_to_pinned:
        case OperationKind::zero_gradients:
        case OperationKind::read_states:
        case OperationKind::write_states:
        case OperationKind::issue:
            return Family::other;
    }
    return Family::other;
}

std::vector<Block> lane_blocks(const TimedPlan& report, Lane lane) {
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < report.plan.program.operations.size(); ++i) {
        const Operation& operation = report.plan.program.operations[i];
        if (operation.lane != lane) continue;
        add_parts(blocks, static_cast<OperationId>(i), family_of(operation.kind),
                  report.step.intervals[i], report.step.seconds);
    }
    std::ranges::stable_sort(blocks, {}, &Block::start);
    return blocks;
}

std::vector<Block> pauses(const std::vector<Block>& blocks, Seconds step) {
    std::vector<Block> found;
    if (blocks.empty()) return found;
    Seconds free = 0;
    const auto add = [&](Seconds until, OperationId ended_by) {
        if (until - free > kRounding)
            found.push_back({free, until, until - free, ended_by, ended_by, 1, Family::other});
    };
    for (const Block& block : blocks) {
        add(block.start, block.first);
        free = std::max(free, block.end);
    }
    add(step, blocks.front().first);
    return found;
}

std::vector<Block> merge_short(const std::vector<Block>& blocks, Seconds shortest) {
    std::vector<Block> merged;
    ShortRun run;
    for (const Block& block : blocks) {
        const bool is_short = block.end - block.start < shortest;
        if (!run.empty() && (!is_short || block.end - run.start() > 2 * shortest))
            merged.push_back(run.take());
        if (is_short) {
            run.add(block);
        } else {
            merged.push_back(block);
        }
    }
    if (!run.empty()) merged.push_back(run.take());
    return merged;
}

}  // namespace sluice

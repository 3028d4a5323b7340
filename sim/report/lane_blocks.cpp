#include "sim/report/lane_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/base/format.h"
#include "sim/report/picture.h"

namespace sluice {
namespace {

constexpr Seconds kRounding = 1e-9;  // shorter is rounding

/// Collects neighbouring operations; knows the family with the most time.
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

const Operation& operation_at(const TimedPlan& report, OperationId id) {
    return report.plan.program.operations[static_cast<std::size_t>(id)];
}

const OperationInterval& interval_of(const TimedPlan& report, OperationId id) {
    return report.step.intervals[static_cast<std::size_t>(id)];
}

std::string label_of(const TimedPlan& report, OperationId id) {
    return operation_label(operation_at(report, id), report.asked.layers);
}

}  // namespace

Family family_of(OperationKind kind) {
    switch (kind) {
        case OperationKind::copy_embeddings_in:
        case OperationKind::copy_weights_in:
        case OperationKind::copy_weights_out:
        case OperationKind::read_weights:
        case OperationKind::write_weights:
        case OperationKind::all_gather:
            return Family::weights;
        case OperationKind::copy_checkpoint_in:
        case OperationKind::copy_checkpoint_out:
        case OperationKind::copy_kept_in:
        case OperationKind::copy_kept_out:
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
        case OperationKind::update_ahead:
        case OperationKind::update:
        case OperationKind::update_moments:
            return Family::update;
        case OperationKind::copy_states_in:
        case OperationKind::copy_states_out:
        case OperationKind::unflatten:
        case OperationKind::gather_embeddings:
        case OperationKind::clip_gradients:
        case OperationKind::copy_to_pinned:
        case OperationKind::zero_gradients:
        case OperationKind::flatten_weights:
        case OperationKind::read_states:
        case OperationKind::write_states:
        case OperationKind::issue:
            return Family::other;
    }
    return Family::other;
}

std::vector<OperationInterval> within_step(OperationInterval interval, Seconds step) {
    std::vector<OperationInterval> out;
    const double last = std::ceil(interval.end / step);
    for (double turn = std::floor(interval.start / step); turn < last; ++turn) {
        const Seconds start = std::max(0.0, interval.start - turn * step);
        const Seconds end = std::min(step, interval.end - turn * step);
        if (end - start > kRounding) out.push_back({start, end});
    }
    return out;
}

std::vector<Block> lane_blocks(const TimedPlan& report, Lane lane) {
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < report.plan.program.operations.size(); ++i) {
        const Operation& operation = report.plan.program.operations[i];
        if (operation.lane != lane) continue;
        const auto id = static_cast<OperationId>(i);
        for (const auto& [start, end] : within_step(report.step.intervals[i], report.step.seconds))
            blocks.push_back({start, end, end - start, id, id, 1, family_of(operation.kind)});
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

const char* family_name(Family family) {
    static constexpr std::array<const char*, kFamilyCount> kNames = {
        "weights in", "checkpoints", "forward",          "recompute + backward",
        "loss",       "gradients",   "optimizer update", "other"};
    return kNames[static_cast<std::size_t>(family)];
}

OperationId last_wait(const TimedPlan& report, OperationId id) {
    OperationId latest = -1;
    Seconds latest_end = 0;
    for (const Dependency& wait : operation_at(report, id).waits_for) {
        const Seconds end = interval_of(report, wait.operation).end -
                            (wait.previous_step ? report.step.seconds : 0);
        if (latest >= 0 && end <= latest_end) continue;
        latest = wait.operation;
        latest_end = end;
    }
    return latest;
}

std::string text_inside(const TimedPlan& report, const Block& block, double size, double width) {
    if (block.count > 1) return "";
    const Operation& operation = operation_at(report, block.first);
    const std::string label = label_of(report, block.first);
    if (text_width(label, size) <= width) return label;
    const bool in_layer = operation.layer >= 0 && operation.layer < report.asked.layers;
    const std::string shorter =
        in_layer ? std::to_string(operation.layer) : operation_name(operation.kind);
    // All numbers of a row of blocks, or none.
    const std::string widest = in_layer ? std::to_string(report.asked.layers - 1) : shorter;
    return text_width(widest, size) <= width ? shorter : "";
}

}  // namespace sluice

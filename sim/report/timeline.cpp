#include "sim/report/timeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/format.h"
#include "sim/report/chart_parts.h"
#include "sim/report/timeline_picture.h"

namespace sluice {
namespace {

bool has_times(const std::shared_ptr<const TimedPlan>& report) {
    return report && report->step.seconds > 0 && !report->step.intervals.empty() &&
           report->step.intervals.size() == report->plan.program.operations.size();
}

std::vector<WaitBlock> waits_of(const std::vector<ExposedWait>& exposed, Lane lane, Seconds step) {
    std::vector<WaitBlock> waits;
    for (const ExposedWait& wait : exposed)
        if (wait.lane == lane)
            for (const auto& [start, end] : within_step({wait.start, wait.end}, step))
                waits.push_back({start, end, wait.cause, wait.waiting});
    std::ranges::sort(waits, {}, &WaitBlock::start);
    return waits;
}

std::vector<WaitBlock> waits_of_compute(const std::vector<Block>& blocks,
                                        const std::vector<ExposedWait>& exposed, Seconds step) {
    std::vector<OperationId> cause_of;  // by waiting operation: the dependency that ends last
    for (const ExposedWait& wait : exposed) {
        const auto waiting = static_cast<std::size_t>(wait.waiting);
        if (waiting >= cause_of.size()) cause_of.resize(waiting + 1, -1);
        if (cause_of[waiting] < 0) cause_of[waiting] = wait.cause;
    }
    std::vector<WaitBlock> waits;
    for (const Block& pause : pauses(blocks, step)) {
        const auto waiting = static_cast<std::size_t>(pause.first);
        waits.push_back({pause.start, pause.end, waiting < cause_of.size() ? cause_of[waiting] : -1,
                         pause.first});
    }
    return waits;
}

}  // namespace

Timeline::Timeline(std::shared_ptr<const TimedPlan> predicted,
                   std::shared_ptr<const TimedPlan> measured) {
    std::vector<std::shared_ptr<const TimedPlan>> reports;
    if (has_times(predicted)) reports.push_back(std::move(predicted));
    has_measured_ = has_times(measured);
    if (has_measured_) reports.push_back(std::move(measured));
    std::vector<std::vector<ExposedWait>> exposed;
    for (const auto& report : reports) {
        length_ = std::max(length_, report->step.seconds);
        exposed.push_back(
            exposed_waits(report->plan.program, report->step.intervals, report->step.seconds));
    }
    if (reports.empty()) return;
    for (const Lane lane : reports.front()->step.used_lanes()) {
        for (std::size_t i = 0; i < reports.size(); ++i) {
            const bool below = has_measured_ && i + 1 == reports.size();
            add_row(reports[i], lane, below, exposed[i]);
        }
    }
}

void Timeline::add_row(const std::shared_ptr<const TimedPlan>& report, Lane lane,
                       bool measured_below, const std::vector<ExposedWait>& exposed) {
    TimelineRow row{report, lane, measured_below, lane_blocks(*report, lane), {}};
    if (row.blocks.empty()) return;
    row.waits = lane.work == Work::compute
                    ? waits_of_compute(row.blocks, exposed, report->step.seconds)
                    : waits_of(exposed, lane, report->step.seconds);
    rows_.push_back(std::move(row));
}

std::vector<Block> Timeline::visible(std::size_t row, Seconds begin, Seconds end,
                                     Seconds shortest) const {
    const std::vector<Block>& all = rows_[row].blocks;
    const auto from =
        std::ranges::partition_point(all, [&](const Block& block) { return block.end <= begin; });
    const auto until = std::partition_point(from, all.end(),
                                            [&](const Block& block) { return block.start < end; });
    return merge_short({from, until}, shortest);
}

std::vector<WaitBlock> Timeline::visible_waits(std::size_t row, Seconds begin, Seconds end,
                                               Seconds shortest) const {
    const std::vector<WaitBlock>& all = rows_[row].waits;
    std::vector<WaitBlock> shown;
    auto at =
        std::ranges::partition_point(all, [&](const WaitBlock& wait) { return wait.end <= begin; });
    for (; at != all.end() && at->start < end; ++at) {
        const bool joins = !shown.empty() && at->start - shown.back().end < shortest &&
                           at->end - shown.back().start < 2 * shortest;
        if (joins) {
            shown.back().end = std::max(shown.back().end, at->end);
        } else {
            shown.push_back(*at);
        }
    }
    return shown;
}

std::optional<TimelinePlace> Timeline::hit(std::size_t row, Seconds time, Seconds tolerance) const {
    if (row >= rows_.size()) return std::nullopt;
    const std::vector<Block>& all = rows_[row].blocks;
    const auto after =
        std::ranges::partition_point(all, [&](const Block& block) { return block.start <= time; });
    std::optional<TimelinePlace> best;
    Seconds least = tolerance;
    const auto consider = [&](auto block) {
        const Seconds away = std::max({0.0, block->start - time, time - block->end});
        if (away > least || (best && away == least)) return;
        least = away;
        best = TimelinePlace{row, static_cast<std::size_t>(block - all.begin())};
    };
    if (after != all.begin()) consider(after - 1);
    if (after != all.end()) consider(after);
    return best;
}

std::optional<WaitBlock> Timeline::wait_at(std::size_t row, Seconds time) const {
    if (row >= rows_.size()) return std::nullopt;
    for (const WaitBlock& wait : rows_[row].waits)
        if (wait.start <= time && time < wait.end) return wait;
    return std::nullopt;
}

TimelinePlace Timeline::beside(TimelinePlace place, int by) const {
    const auto last = static_cast<std::int64_t>(rows_[place.row].blocks.size()) - 1;
    const auto next = static_cast<std::int64_t>(place.block) + by;
    return {place.row, static_cast<std::size_t>(std::clamp<std::int64_t>(next, 0, last))};
}

TimelinePlace Timeline::below(TimelinePlace place, int by) const {
    const auto last = static_cast<std::int64_t>(rows_.size()) - 1;
    const auto row = static_cast<std::size_t>(
        std::clamp<std::int64_t>(static_cast<std::int64_t>(place.row) + by, 0, last));
    if (row == place.row) return place;
    const Block& from = block(place);
    return hit(row, (from.start + from.end) / 2, length_).value_or(TimelinePlace{row, 0});
}

std::string plan_difference(const TimedPlan& predicted, const TimedPlan& measured) {
    const auto& one = predicted.plan.program.operations;
    const auto& other = measured.plan.program.operations;
    if (one.size() != other.size()) {
        return fmt::format(
            "The measured step has {} operations, the predicted one {}: they are of different "
            "plans. "
            "Give the prediction the settings of the run.",
            format_thousands(other.size()), format_thousands(one.size()));
    }
    for (std::size_t i = 0; i < one.size(); ++i) {
        const Operation &a = one[i], &b = other[i];
        if (a.kind == b.kind && a.lane == b.lane && a.layer == b.layer &&
            a.micro_batch == b.micro_batch)
            continue;
        return fmt::format(
            "Operation {} is {} in the measured step, {} in the predicted one: they are of "
            "different "
            "plans. Give the prediction the settings of the run.",
            i + 1, operation_label(b, measured.asked.layers),
            operation_label(a, predicted.asked.layers));
    }
    if (predicted.asked.model_name != measured.asked.model_name)
        return fmt::format("The measured step belongs to {}, the predicted one to {}.",
                           measured.asked.model_name, predicted.asked.model_name);
    if (predicted.asked.training.batch != measured.asked.training.batch ||
        predicted.asked.training.sequence != measured.asked.training.sequence)
        return fmt::format("The measured step has batch {} x {} tokens, the predicted one {} x {}.",
                           measured.asked.training.batch, measured.asked.training.sequence,
                           predicted.asked.training.batch, predicted.asked.training.sequence);
    return "";
}

TimelineHeader timeline_header(const TimedPlan& report) {
    const TrainingSpec& t = report.asked.training;
    TimelineHeader header{report.asked.model_name + " on " + report.asked.machine_name, {}};
    header.lines.push_back(fmt::format(
        "{}: batch {} x {} tokens, {} a step, {} tokens/s{}{}",
        report.step.measured ? "measured" : "predicted", t.batch, format_thousands(t.sequence),
        format_seconds(report.step.seconds), format_thousands(report.tokens_per_s()),
        t.schedule->ours ? "" : fmt::format(", {} schedule", t.schedule->name),
        report.plan.fit.fits() ? "" : "; does not fit into memory, shown without that limit"));
    if (!report.step.intervals.empty()) header.lines.push_back(bottleneck_text(report.step));
    return header;
}

Picture step_picture(const TimedPlan& report) {
    // A timeline must not outlive its report.
    const std::shared_ptr<const TimedPlan> borrowed(std::shared_ptr<void>(), &report);
    return timeline_picture(Timeline(borrowed), {1200},
                            {.header = timeline_header(report), .tooltips = true});
}

TimeTicks time_ticks(Seconds begin, Seconds end, int most) {
    TimeTicks out;
    double unit = 1;
    if (end - begin < 2e-3) {
        out.unit = "us";
        unit = 1e-6;
    } else if (end - begin < 2) {
        out.unit = "ms";
        unit = 1e-3;
    }
    for (const double tick : linear_axis(begin / unit, end / unit, most).ticks)
        out.ticks.push_back({tick * unit, fmt::format("{:.10g}", tick)});
    return out;
}

}  // namespace sluice

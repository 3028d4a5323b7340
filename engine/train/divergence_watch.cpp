#include "engine/train/divergence_watch.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr std::int64_t kMemory = 50, kFirstJudged = 5;  // steps
const double kTwice = std::log(2.0), kFourTimes = std::log(4.0);

void extend(WorseSteps& row, std::int64_t step, bool is_worse, bool is_far_worse) {
    if (!is_worse) {
        row = {};
        return;
    }
    if (!row.since) row.since = step;
    row.is_sure = row.is_sure || is_far_worse;
}

template <typename Wanted>
std::optional<std::int64_t> earliest(const DivergenceMemory& memory, Wanted wanted) {
    std::optional<std::int64_t> out;
    for (const WorseSteps& row : {memory.norm, memory.loss_rise, memory.no_gradient})
        if (row.since && wanted(row)) out = std::min(out.value_or(*row.since), *row.since);
    return out;
}

}  // namespace

DivergenceWatch::DivergenceWatch(std::int64_t vocabulary)
    : guess_(0.99 * std::log(static_cast<double>(vocabulary))) {}

void DivergenceWatch::add(std::int64_t step, double loss, double norm, std::int64_t targets) {
    if (targets == 0) return;
    has_diverged_ = false;
    if (!std::isfinite(loss) || !std::isfinite(norm)) {
        extend(memory_.norm, step, true, true);
        has_diverged_ = true;
        return;
    }
    const bool is_off = norm == 0 && memory_.steps > 0;
    extend(memory_.no_gradient, step, is_off, is_off);
    has_diverged_ = is_off;
    judge_loss(step, loss);
    if (norm == 0) return;
    judge_norm(step, norm);
    ++memory_.steps;
}

void DivergenceWatch::judge_norm(std::int64_t step, double norm) {
    const double above = std::log(norm) - memory_.norm_log;
    const bool is_judged = memory_.steps >= kFirstJudged;
    extend(memory_.norm, step, is_judged && above > kTwice, above > kFourTimes);
    memory_.norm_log += above / static_cast<double>(std::min(memory_.steps + 1, kMemory));
}

void DivergenceWatch::judge_loss(std::int64_t step, double loss) {
    DivergenceMemory& m = memory_;
    const auto seen = static_cast<double>(m.steps);
    if (m.steps >= kFirstJudged) {
        // Few steps know the deviation badly: five of one batch each may be alike by chance.
        const double deviations = 3 * std::sqrt(m.loss_variance) * (1 + 20 / seen);
        const double rise = std::max(deviations, 0.05 * m.lowest_loss + 0.05);
        const double knows_nothing = m.lowest_loss + 2 * deviations < guess_ ? guess_ : INFINITY;
        const bool row_ends = m.loss_rise.since.has_value();
        extend(m.loss_rise, step, loss > std::min(m.lowest_loss + rise, knows_nothing),
               loss > std::min(m.lowest_loss + 2 * rise, knows_nothing));
        if (m.loss_rise.since) {
            // One odd batch makes a loss of any size, but not many steps in a row.
            const std::int64_t steps = step - *m.loss_rise.since + 1;
            const bool is_lost = steps >= 2 && loss > knows_nothing;
            const bool lasts = steps >= 3 && m.loss_rise.is_sure;
            has_diverged_ = has_diverged_ || is_lost || (lasts && loss > m.lowest_loss + 4 * rise);
            // No more, or one odd batch would hide all that follows.
            m.worse_loss = std::min(loss, m.lowest_loss + 2 * rise);
            return;
        }
        if (row_ends) learn(m.worse_loss);
    }
    learn(loss);
}

void DivergenceWatch::learn(double loss) {
    DivergenceMemory& m = memory_;
    // The deviation of differences between steps: a loss that falls fast is no loss that varies.
    if (m.steps > 0) {
        const double change = loss - m.last_loss;
        const double share = 1 / static_cast<double>(std::min(m.steps, kMemory));
        m.loss_variance += share * (change * change / 2 - m.loss_variance);
    }
    m.last_loss = loss;
    m.loss += (loss - m.loss) / static_cast<double>(std::min(m.steps + 1, kMemory));
    if (m.steps + 1 == kFirstJudged || (m.steps >= kFirstJudged && m.loss < m.lowest_loss))
        m.lowest_loss = m.loss;
}

void DivergenceWatch::continue_from(const DivergenceMemory& memory,
                                    std::span<const RecentStep> recent) {
    memory_ = memory;
    if (memory.steps > 0 || recent.empty()) return;
    for (const RecentStep& one : recent) add(0, one.loss, one.gradient_norm, 1);
    for (WorseSteps* row : {&memory_.norm, &memory_.loss_rise, &memory_.no_gradient}) *row = {};
    has_diverged_ = false;
}

std::optional<std::int64_t> DivergenceMemory::worse_since() const {
    return earliest(*this, [](const WorseSteps&) { return true; });
}

std::optional<std::int64_t> DivergenceMemory::far_worse_since() const {
    return earliest(*this, [](const WorseSteps& row) { return row.is_sure; });
}

}  // namespace sluice

#include "engine/watch/run_history.h"

#include <algorithm>
#include <fstream>

namespace sluice {
namespace {

constexpr std::size_t kMostPoints = 1000;

/// Calls `use` with the number and the object of each line that is one of a step.
template <typename Use>
void for_each_step(const std::string& path, Use use) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const auto step = nlohmann::ordered_json::parse(line, nullptr, false);
        if (!step.is_object() || !step.contains("step") || !step["step"].is_number_integer())
            continue;
        use(step["step"].template get<std::int64_t>(), step);
    }
}

}  // namespace

Point ThinnedSeries::Group::mean() const {
    const auto n = static_cast<double>(count);
    return {steps / n, values / n};
}

void ThinnedSeries::add(double step, double value) {
    if (groups_.empty() || groups_.back().count == group_) groups_.emplace_back();
    Group& last = groups_.back();
    last.steps += step;
    last.values += value;
    ++last.count;
    if (groups_.size() < kMostPoints || last.count < group_) return;
    // Pairs become one.
    for (std::size_t i = 0; i < groups_.size() / 2; ++i) {
        const Group &one = groups_[2 * i], &two = groups_[2 * i + 1];
        groups_[i] = {one.steps + two.steps, one.values + two.values, one.count + two.count};
    }
    groups_.resize(groups_.size() / 2);
    group_ *= 2;
}

std::vector<Point> ThinnedSeries::points() const {
    std::vector<Point> out;
    for (const Group& group : groups_) out.push_back(group.mean());
    return out;
}

void RunHistory::add(const nlohmann::ordered_json& step) {
    const auto at = step.find("step");
    if (at == step.end() || !at->is_number()) return;
    for (const auto& [key, value] : step.items()) {
        if (!value.is_number() || key == "step") continue;
        auto found = std::ranges::find(series_, key, &Series::key);
        if (found == series_.end()) found = series_.insert(found, {key, {}});
        found->values.add(at->get<double>(), value.get<double>());
    }
}

void RunHistory::read_log(const std::string& path, std::int64_t last) {
    // Read twice: all steps at once would take 0.8 KB each.
    std::vector<std::int64_t> steps;
    for_each_step(path, [&](std::int64_t number, const auto&) { steps.push_back(number); });
    // A line counts unless one of the same or an earlier step follows, where a run went on.
    std::vector<bool> counts(steps.size());
    std::int64_t least = last + 1;
    for (std::size_t line = steps.size(); line-- > 0;) {
        counts[line] = steps[line] < least;
        least = std::min(least, steps[line]);
    }
    std::size_t line = 0;
    for_each_step(path, [&](std::int64_t, const auto& step) {
        if (line < counts.size() && counts[line]) add(step);
        ++line;
    });
}

ThinnedSeries RunHistory::series(const std::string& key) const {
    const auto found = std::ranges::find(series_, key, &Series::key);
    return found == series_.end() ? ThinnedSeries() : found->values;
}

}  // namespace sluice

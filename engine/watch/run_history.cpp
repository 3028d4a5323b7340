#include "engine/watch/run_history.h"

#include <algorithm>
#include <fstream>
#include <map>

namespace sluice {
namespace {

constexpr std::size_t kMostPoints = 1000;

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
    std::map<std::int64_t, nlohmann::ordered_json> steps;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        auto step = nlohmann::ordered_json::parse(line, nullptr, false);
        if (!step.is_object() || !step.contains("step") || !step["step"].is_number_integer())
            continue;
        const auto number = step["step"].get<std::int64_t>();
        if (number <= last) steps[number] = std::move(step);
    }
    for (const auto& [number, step] : steps) add(step);
}

ThinnedSeries RunHistory::series(const std::string& key) const {
    const auto found = std::ranges::find(series_, key, &Series::key);
    return found == series_.end() ? ThinnedSeries() : found->values;
}

}  // namespace sluice

#include "planner-gui/session/prediction.h"

#include <algorithm>

namespace sluice {

std::shared_ptr<const Prediction> shared_report(const std::shared_ptr<const ScenarioAnswer>& of) {
    return of == nullptr ? nullptr : std::shared_ptr<const Prediction>(of, &of->report());
}

std::shared_ptr<const ScenarioAnswer> PredictionCache::find(const PlannedScenario& planned) {
    const auto found = std::find_if(newest_.begin(), newest_.end(), [&](const auto& one) {
        return ask_the_same(one->planned, planned);
    });
    if (found == newest_.end() || (*found)->files != read_named_files(planned)) return nullptr;
    std::rotate(newest_.begin(), found, found + 1);
    return newest_.front();
}

void PredictionCache::add(const std::shared_ptr<const ScenarioAnswer>& prediction) {
    if (prediction->stage == PredictionStage::step) return;
    std::erase_if(newest_,
                  [&](const auto& one) { return ask_the_same(one->planned, prediction->planned); });
    newest_.push_front(prediction);
    if (newest_.size() > most_) newest_.pop_back();
}

void PredictionCache::keep(std::size_t scenarios) {
    most_ = scenarios + kSpare;
    if (newest_.size() > most_) newest_.resize(most_);
}

}  // namespace sluice

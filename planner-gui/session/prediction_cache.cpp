#include "planner-gui/session/prediction_cache.h"

#include <algorithm>
#include <tuple>

namespace sluice {
namespace {

constexpr std::size_t kMost = 256;

bool same(const PlannedScenario& a, const PlannedScenario& b) {
    const auto asked = [](const PlannedScenario& one) {
        return std::tie(one.model, one.machine, one.training, one.money);
    };
    return asked(a) == asked(b);
}

}  // namespace

std::shared_ptr<const Prediction> PredictionCache::find(const PlannedScenario& planned) const {
    for (const auto& one : newest_)
        if (same(one->planned, planned)) return one;
    return nullptr;
}

void PredictionCache::add(const std::shared_ptr<const Prediction>& prediction) {
    if (prediction->stage == PredictionStage::step) return;
    std::erase_if(newest_,
                  [&](const auto& one) { return same(one->planned, prediction->planned); });
    newest_.push_front(prediction);
    if (newest_.size() > kMost) newest_.pop_back();
}

}  // namespace sluice

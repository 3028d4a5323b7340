#include "planner-gui/session/prediction_cache.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::size_t kMost = 256;

}  // namespace

std::shared_ptr<const Prediction> PredictionCache::find(const PlannedScenario& planned) const {
    const auto found = std::find_if(newest_.begin(), newest_.end(), [&](const auto& one) {
        return ask_the_same(one->planned, planned);
    });
    if (found == newest_.end() || (*found)->files != read_named_files(planned)) return nullptr;
    return *found;
}

void PredictionCache::add(const std::shared_ptr<const Prediction>& prediction) {
    if (prediction->stage == PredictionStage::step) return;
    std::erase_if(newest_,
                  [&](const auto& one) { return ask_the_same(one->planned, prediction->planned); });
    newest_.push_front(prediction);
    if (newest_.size() > kMost) newest_.pop_back();
}

}  // namespace sluice

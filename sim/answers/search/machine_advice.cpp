#include "sim/answers/search/machine_advice.h"

namespace sluice {

std::optional<double> MachineAdvice::usd_per_million_tokens() const {
    constexpr double kSecondsAnHour = 3600;
    if (!price || !advice || !advice->best) return std::nullopt;
    return price->usd / kSecondsAnHour / advice->best->tokens_per_s() * kMega;
}

const MachineAdvice* best_machine(const std::vector<MachineAdvice>& machines) {
    const MachineAdvice* best = nullptr;
    for (const MachineAdvice& one : machines) {
        if (!one.is_choice()) continue;
        if (best == nullptr ||
            one.advice->best->tokens_per_s() > best->advice->best->tokens_per_s())
            best = &one;
    }
    return best;
}

const MachineAdvice* cheapest_machine(const std::vector<MachineAdvice>& machines) {
    const MachineAdvice* cheapest = nullptr;
    for (const MachineAdvice& one : machines) {
        if (!one.is_choice() || !one.price) continue;
        if (cheapest == nullptr ||
            one.usd_per_million_tokens() < cheapest->usd_per_million_tokens())
            cheapest = &one;
    }
    return cheapest;
}

std::vector<std::string> near_best_machine(const std::vector<MachineAdvice>& machines) {
    std::vector<std::string> out;
    const MachineAdvice* const best = best_machine(machines);
    if (best == nullptr) return out;
    const AdvisedSettings& first = *best->advice->best;
    const double least = static_cast<double>(first.training.tokens()) / first.row.step_high;
    for (const MachineAdvice& one : machines) {
        if (&one == best || !one.is_choice()) continue;
        const AdvisedSettings& other = *one.advice->best;
        const double most = static_cast<double>(other.training.tokens()) / other.row.step_low;
        if (most > least) out.push_back(one.machine);
    }
    return out;
}

}  // namespace sluice

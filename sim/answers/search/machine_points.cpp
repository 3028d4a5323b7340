#include "sim/answers/search/machine_points.h"

namespace sluice {

std::vector<MachinePoint> machine_points(const MachineChoices& choices, CostAxis axis) {
    std::vector<MachinePoint> out;
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < choices.machines.size(); ++i) {
        const MachineChoice& choice = choices.machines[i];
        if (!choice.does_it || !choice.cost) continue;
        const double usd = axis == CostAxis::usd_per_hour
                               ? choice.cost->usd_per_hour
                               : choice.cost->usd_per_million_tokens.value;
        out.push_back({i, usd, choice.report.tokens_per_s(), false});
        points.emplace_back(usd, out.back().tokens_per_s);
    }
    for (const std::size_t i : pareto_front(points)) out[i].on_front = true;
    return out;
}

std::vector<FrontMarks> front_marks(const MachineChoices& choices) {
    std::vector<FrontMarks> marks(choices.machines.size());
    for (const MachinePoint& point : machine_points(choices, CostAxis::usd_per_hour))
        marks[point.machine].by_hour = point.on_front;
    for (const MachinePoint& point : machine_points(choices, CostAxis::usd_per_million_tokens))
        marks[point.machine].by_token = point.on_front;
    return marks;
}

}  // namespace sluice

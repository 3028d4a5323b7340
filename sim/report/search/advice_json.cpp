#include <nlohmann/json.hpp>

#include "sim/base/json_text.h"
#include "sim/plan/step.h"
#include "sim/report/search/advice_report.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

Json training_json(const TrainingSpec& training) {
    Json out = Json::object();
    for (const Option& option : training_options()) {
        if (!has_option(training.schedule, option)) continue;
        if (option.choices.empty())
            out[option.field] = static_cast<std::int64_t>(option.get(training));
        else
            out[option.field] = option_text(training, option);
    }
    return out;
}

Json settings_json(const std::optional<AdvisedSettings>& settings) {
    if (!settings) return {};
    const SearchRow& row = settings->row;
    const auto tokens = static_cast<double>(settings->training.tokens());
    Json out = {{"flags", settings_flags(settings->training)},
                {"settings", training_json(settings->training)},
                {"device_peak_bytes", row.device_peak},
                {"host_peak_bytes", row.host_peak}};
    if (row.state != RowState::simulated) {
        out["device_short_bytes"] = row.device_short;
        out["host_short_bytes"] = row.host_short;
        return out;
    }
    out["step_s"] = row.step;
    out["tokens_per_s"] = settings->tokens_per_s();
    if (row.has_band()) {
        out["step_5_percent_s"] = row.step_low;
        out["step_95_percent_s"] = row.step_high;
        out["tokens_per_s_5_percent"] = tokens / row.step_high;
        out["tokens_per_s_95_percent"] = tokens / row.step_low;
    }
    out["bottleneck"] = bottleneck_name(row.bottleneck);
    return out;
}

Json neighbour_json(const Neighbour& n) {
    Json out = {{"option", n.option},
                {"chosen", n.chosen},
                {"instead", n.instead},
                {"state", row_state_name(n.row.state)}};
    if (n.row.state == RowState::simulated) {
        out["tokens_per_s_change_share"] = n.speed_change;
        out["device_peak_change_bytes"] = n.device_change;
        out["host_peak_change_bytes"] = n.host_change;
        out["lead_smaller_than_band"] = n.within_band;
    } else {
        out["device_short_bytes"] = n.row.device_short;
        out["host_short_bytes"] = n.row.host_short;
        out["storage_short_bytes"] = n.row.storage_short;
    }
    return out;
}

Json advice_of(const Advice& advice) {
    Json out = {{"model", advice.model_name},
                {"layers", advice.layers},
                {"fits", advice.best.has_value()},
                {"reaches_least_tokens_per_s", advice.best && advice.reaches_least},
                {"best", settings_json(advice.best)},
                {"knee", settings_json(advice.knee)},
                {"nearest", settings_json(advice.nearest)},
                {"neighbours", Json::array()},
                {"by_batch", Json::array()},
                {"combinations", advice.combinations},
                {"simulated", advice.simulated},
                {"bounded", advice.bounded},
                {"does_not_fit", advice.too_large},
                {"left_out", Json::array()}};
    for (const Neighbour& n : advice.neighbours) out["neighbours"].push_back(neighbour_json(n));
    for (const AdvisedSettings& one : advice.by_batch)
        out["by_batch"].push_back(settings_json(one));
    for (const LeftOut& left_out : advice.left_out)
        out["left_out"].push_back(
            {{"count", left_out.count}, {"field", left_out.field}, {"example", left_out.example}});
    return out;
}

}  // namespace

std::string advice_json(const std::vector<MachineAdvice>& machines, const AdviceRequest& request) {
    const MachineAdvice* const best = best_machine(machines);
    const MachineAdvice* const cheapest = cheapest_machine(machines);
    Json out = {{"best_machine", best == nullptr ? Json() : Json(best->machine)},
                {"best_machine_by", "tokens_per_s"},
                {"cheapest_machine", cheapest == nullptr ? Json() : Json(cheapest->machine)},
                {"best_machine_within_bands_of", near_best_machine(machines)},
                {"least_tokens_per_s", request.least_tokens_per_s},
                {"knee_share", request.knee},
                {"machines", Json::array()}};
    for (const MachineAdvice& one : machines) {
        Json machine = {{"machine", one.machine}};
        if (one.price) {
            machine["usd_per_hour"] = one.price->usd;
            machine["price_source"] = one.price->source;
        }
        if (!one.left_out.empty()) machine["left_out"] = one.left_out;
        if (one.advice) {
            if (one.price && one.advice->best)
                machine["usd_per_million_tokens"] =
                    usd_per_million_tokens(*one.price, one.advice->best->tokens_per_s());
            machine["advice"] = advice_of(*one.advice);
        }
        out["machines"].push_back(std::move(machine));
    }
    return readable_json(out);
}

}  // namespace sluice

// Comparisons as JSON and CSV: keys carry units.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/answers/compare/findings.h"
#include "sim/base/format.h"
#include "sim/base/json_text.h"
#include "sim/report/compare/comparison_report.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

/// Tokens/s with a step at one end of the band; nothing where there is no band.
std::optional<double> band_end(const Prediction& r, Seconds Band::*end) {
    return r.band ? std::optional(r.tokens_per_s_at((*r.band).*end)) : std::nullopt;
}

std::optional<double> usd_per_million_tokens(const Prediction& r) {
    return r.cost ? std::optional(r.usd_per_million_tokens_at(r.step.seconds)) : std::nullopt;
}

Json tier_json(const Fit::OfTier& tier) {
    return {{"peak_bytes", tier.peak.bytes},
            {"usable_bytes", tier.usable},
            {"short_bytes", tier.shortfall()}};
}

Json suggestion_json(const ComparedSystem& system) {
    if (system.report.advice.suggestions.empty()) return {};
    const Suggestion& first = system.report.advice.suggestions.front();
    return {{"flags", setting_flags(first.settings)},
            {"device_peak_bytes", first.device_peak},
            {"host_peak_bytes", first.host_peak},
            {"tokens_per_s", or_null(system.suggested_tokens_per_s)}};
}

Json settings_json(const TrainingSpec& training) {
    Json out = Json::object();
    for (const Option& option : training_options()) {
        if (!has_option(training.schedule, option)) continue;
        out[option.field] = option.choices.empty()
                                ? Json(static_cast<std::int64_t>(option.get(training)))
                                : Json(option_text(training, option));
    }
    return out;
}

Json whole_batch_note(const ComparedSystem& system) {
    const std::string words = micro_batch_words(system);
    return words.empty() ? Json() : Json(words);
}

Json system_json(const Comparison& c, const ComparedSystem& system) {
    const Prediction& r = system.report;
    const auto [lane, share] = bound_of(r);
    return {{"system", system.name},
            {"machine", r.asked.machine_id},
            {"gpus", r.asked.training.gpus},
            {"settings", settings_json(r.asked.training)},
            {"states", states_of(r.asked.training)},
            {"short_of_whole_batch_bytes", system.short_of_whole_batch},
            {"whole_batch_note", whole_batch_note(system)},
            {"fits", system.fits()},
            {"fits_with", suggestion_json(system)},
            {"step_s", r.step.seconds},
            {"tokens_per_s", r.tokens_per_s()},
            {"tokens_per_s_5_percent", or_null(band_end(r, &Band::high))},
            {"tokens_per_s_95_percent", or_null(band_end(r, &Band::low))},
            {"usd_per_million_tokens", or_null(usd_per_million_tokens(r))},
            {"relative_speed", or_null(relative_speed(c, system))},
            {"device", tier_json(r.plan.fit.device)},
            {"host", tier_json(r.plan.fit.host)},
            {"bottleneck", bottleneck_name(r.step.bottleneck())},
            {"bottleneck_share_of_critical_path", share},
            {"confidence", confidence_name(r.plan.confidence)}};
}

Json comparison_json_of(const Comparison& c) {
    Json out = {{"layers", c.shared().asked.layers}, {"parameters", c.shared().asked.parameters}};
    out["systems"] = Json::array();
    for (const ComparedSystem& system : c.systems) out["systems"].push_back(system_json(c, system));
    out["verdict"] = verdict(c);
    return out;
}

std::string csv_number(const std::optional<double>& value) {
    return value ? fmt::format("{}", rounded(*value, 6)) : "";
}

std::string csv_line(const Comparison& c, const ComparedSystem& system) {
    const Prediction& r = system.report;
    const std::string fits_with =
        r.advice.suggestions.empty() ? "" : setting_flags(r.advice.suggestions.front().settings);
    return fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
        csv_text(r.asked.model_name), r.asked.layers, csv_text(r.asked.machine_id),
        r.asked.training.gpus, r.asked.training.batch, r.asked.training.sequence, system.name,
        csv_text(settings_text(own_settings(r.asked.training))),
        csv_text(states_of(r.asked.training)), system.short_of_whole_batch,
        csv_text(micro_batch_words(system)), system.fits() ? 1 : 0, r.plan.fit.device.shortfall(),
        r.plan.fit.host.shortfall(), csv_text(fits_with), csv_number(r.step.seconds),
        csv_number(r.tokens_per_s()), csv_number(band_end(r, &Band::high)),
        csv_number(band_end(r, &Band::low)), csv_number(usd_per_million_tokens(r)),
        csv_number(relative_speed(c, system)), r.plan.fit.device.peak.bytes,
        r.plan.fit.host.peak.bytes, bottleneck_name(r.step.bottleneck()),
        csv_number(bound_of(r).second), confidence_name(r.plan.confidence));
}

}  // namespace

std::string comparison_json(std::span<const Comparison> comparisons) {
    const Comparison& last = comparisons.back();
    const Prediction& shared = last.shared();
    Json out = {{"model", {{"name", shared.asked.model_name}}},
                {"machine",
                 {{"id", shared.asked.machine_id},
                  {"name", shared.asked.machine_name},
                  {"changes", shared.asked.machine_changes}}},
                {"batch", shared.asked.training.batch},
                {"seq", shared.asked.training.sequence},
                {"relative_speed_formula", "tokens_per_s / that of streamed"}};
    out["comparisons"] = Json::array();
    for (const Comparison& c : comparisons) out["comparisons"].push_back(comparison_json_of(c));
    if (comparisons.size() > 1) out["trend"] = trend(comparisons);
    out["left_out"] = last.left_out;
    out["assumptions"] = Json::array();
    for (const SharedAssumption& assumption : shared_assumptions(last))
        out["assumptions"].push_back(
            {{"sentence", assumption.sentence}, {"systems", assumption.systems}});
    return readable_json(out);
}

std::string comparison_csv(std::span<const Comparison> comparisons) {
    std::string out =
        "model,layers,machine,gpus,batch,seq,system,settings,states,short_of_whole_batch_bytes,"
        "whole_batch_"
        "note,"
        "fits,device_short_bytes,host_short_bytes,"
        "fits_with,step_s,tokens_per_s,tokens_per_s_5_percent,tokens_per_s_95_percent,usd_per_"
        "million_tokens,"
        "relative_speed,device_peak_bytes,host_peak_bytes,bottleneck,"
        "bottleneck_share_of_critical_path,confidence\n";
    for (const Comparison& c : comparisons)
        for (const ComparedSystem& system : c.systems) out += csv_line(c, system);
    return out;
}

}  // namespace sluice

// The report as JSON. Keys carry units. Numbers are not rounded, except operations of a measured
// step.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/json_text.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

Json by_kind_json(const BytesByKind& by_kind) {
    Json out;
    for (int i = 0; i < kMemoryKindCount; ++i) {
        std::string key = memory_kind_name(static_cast<MemoryKind>(i));
        for (char& c : key) c = c == ' ' ? '_' : c;
        out[key + "_bytes"] = by_kind[static_cast<std::size_t>(i)];
    }
    return out;
}

Json memory_json(const Fit::OfMemory& one) {
    return {{"peak_bytes", one.peak.bytes},
            {"usable_bytes", one.usable},
            {"short_bytes", one.shortfall()},
            {"by_kind", by_kind_json(one.peak.by_kind)}};
}

Json lanes_json(const Step& step) {
    Json out;
    for (Json& row : to_json(lanes_table(step))) {
        const std::string lane = row["lane"];
        row.erase("lane");
        out[lane] = std::move(row);
    }
    return out;
}

/// One row per operation, in the plan's order; seconds from the start of the first compute
/// operation.
Json operations_json(const TimedPlan& r) {
    constexpr int kDigits = 9;
    Json rows = Json::array();
    for (std::size_t i = 0; i < r.step.intervals.size(); ++i) {
        const Operation& operation = r.plan.program.operations[i];
        rows.push_back({operation_label(operation, r.asked.layers), lane_name(operation.lane),
                        operation.micro_batch, rounded(r.step.intervals[i].start, kDigits),
                        rounded(r.step.intervals[i].end, kDigits)});
    }
    return {{"columns", {"operation", "lane", "micro_batch", "start_s", "end_s"}}, {"rows", rows}};
}

Json host_timeline_json(const MemoryPlan& memory) {
    Json out = Json::array();
    for (const HostMoment& moment : memory.host_moments)
        out.push_back(
            {{"moment", moment.name}, {"bytes", moment.bytes}, {"beyond_steady", moment.what}});
    return out;
}

void add_advice_json(Json& out, const StepAdvice& advice) {
    out["remedies"] = Json::array();
    for (const Remedy& remedy : advice.remedies)
        out["remedies"].push_back(
            {{"lane", lane_name(remedy.lane)}, {"change", remedy_text(remedy)}});
    out["suggestions"] = Json::array();
    for (const Suggestion& s : advice.suggestions)
        out["suggestions"].push_back({{"flags", setting_flags(s.settings)},
                                      {"device_peak_bytes", s.device_peak},
                                      {"host_peak_bytes", s.host_peak}});
    if (advice.no_suggestion) out["no_suggestion"] = no_suggestion_text(*advice.no_suggestion);
}

Json host_rates_json(const HostRates& rates) {
    return {{"adam_gparams_per_s", rates.adam / kGiga},
            {"host_to_device_gb_per_s", rates.host_to_device / kGiga},
            {"device_to_host_gb_per_s", rates.device_to_host / kGiga}};
}

/// Lets a run say how long its step takes at the rates that its host has today.
void add_other_rates_json(Json& out, const OtherRates& rates) {
    out["host_rates"] = host_rates_json(rates.profile);
    out["step_at_other_rates"] = {{"optimizer", Json::array()}, {"link", Json::array()}};
    for (const StepAtRate& one : rates.steps)
        out["step_at_other_rates"][one.group == RateGroup::link ? "link" : "optimizer"].push_back(
            {{"factor", one.factor}, {"step_s", one.step}});
}

void add_measurement_json(Json& out, const Measurement& measured, Seconds step) {
    out["measured_device_bytes"] = measured.device;
    out["measured_host_bytes"] = measured.host;
    if (measured.gpu_watts > 0) {
        out["measured_gpu_w"] = measured.gpu_watts;
        out["measured_gpu_j"] = measured.gpu_watts * step;
    }
    if (measured.host_rates.known()) {
        out["host_rates"] = host_rates_json(measured.host_rates);
        out["expected_step_s"] = measured.expected_step;
        out["expected_step_at_host_rates_s"] = measured.expected_step_at_host_rates;
    }
    if (measured.ahead) out["updates_ahead"] = true;
    out["steps_measured"] = measured.steps;
}

void add_cost_json(Json& out, const Prediction& r) {
    if (!r.has_rent()) return;
    out["usd_per_hour"] = r.cost->usd_per_hour;
    out["usd_per_hour_of"] = payment_words(*r.cost);
    if (r.cost->paid) out["gpus_paid"] = r.cost->paid->gpus;
    out["usd_per_million_tokens"] = r.usd_per_million_tokens_at(r.step.seconds);
}

/// The step time and its range: the band of a prediction, the spread of a measurement.
void add_times_json(Json& out, const TimedPlan& r, const std::optional<Band>& range) {
    if (range) {
        out["step_5_percent_s"] = range->low;
        out["step_95_percent_s"] = range->high;
    }
    out["step_s"] = r.step.seconds;
    if (!r.step.measured) out["first_step_s"] = r.step.first;
    out["tokens_per_step"] = r.asked.training.tokens();
    add_speed_json(out, r, range);
}

void add_use_json(Json& out, const TimedPlan& r) {
    out["model_tflops_per_s"] = r.model_flops_per_s() / kTera;
    out["model_tflops_formula"] = "6 x active parameters x tokens / step_s";
    out["executed_tflops_per_s"] = r.executed_flops_per_s() / kTera;
    out["utilization"] = Json::object();
    for (const Utilization& used : r.step.utilization)
        out["utilization"][resource_name(used.resource)] = used.share;
    out["bottleneck"] = bottleneck_name(r.step.bottleneck());
    out["bottleneck_words"] = bottleneck_text(r.step);
    out["confidence"] = confidence_name(r.plan.confidence);
}

void add_memory_json(Json& out, const PlannedStep& plan) {
    out["device_peak_bytes"] = plan.fit.device().peak.bytes;
    out["device_capacity_bytes"] = plan.device_capacity;
    out["device_context_bytes"] = plan.device_context;
    out["host_peak_bytes"] = plan.fit.host().peak.bytes;
    out["host_between_steps_bytes"] = plan.memory.host_between_steps;
    out["host_capacity_bytes"] = plan.host_capacity;
    out["unified_memory"] = plan.unified_memory;
    for (const Fit::OfMemory& one : plan.fit.memories)
        if (one.memory.tier != Tier::storage || one.peak.bytes > 0)
            out["memory"][memory_name(one.memory)] = memory_json(one);
    out["host_timeline"] = host_timeline_json(plan.memory);
}

/// `prediction` is `r` if that is a prediction, else null. A run whose step could not be
/// measured has only what is known.
std::string json_of(const TimedPlan& r, const Prediction* prediction,
                    bool with_operations = false) {
    Json out;
    const AskedStep& asked = r.asked;
    out["model"] = {{"name", asked.model_name},
                    {"parameters", asked.parameters},
                    {"active_parameters", asked.active_parameters},
                    {"layers", asked.layers},
                    {"tied_embeddings", asked.tied_embeddings}};
    out["machine"] = {
        {"id", asked.machine_id}, {"name", asked.machine_name}, {"changes", asked.machine_changes}};
    out["training"] = training_json(asked.training, false);
    const Precision activations = r.step.measured ? r.step.measured->activations : Precision::bf16;
    out["precision"] = products_name(asked.training, activations);
    out["activations"] = precision_name(activations);
    if (prediction != nullptr)
        out["runs_today"] = {{"runs", asked.runs_today.runs()},
                             {"program", asked.runs_today.program},
                             {"why_not", asked.runs_today.why_not},
                             {"source", asked.runs_today.source}};
    if (prediction != nullptr) out["plan"] = settings_name(prediction->settings_of).plan;
    if (prediction != nullptr && prediction->choice) {
        const PlanChoice& choice = *prediction->choice;
        out["chosen"] = to_json(plan_choice_table(choice));
        if (choice.step_as_asked) out["step_as_asked_s"] = *choice.step_as_asked;
    }
    if (prediction != nullptr && prediction->faster_plan)
        out["plan_auto"] = {{"step_s", *prediction->faster_plan->step},
                            {"settings", to_json(plan_choice_table(*prediction->faster_plan))}};
    out["fits"] = r.plan.fit.fits();
    out["measured"] = r.step.measured.has_value();
    std::optional<Band> range;
    if (r.step.measured) {
        add_measurement_json(out, *r.step.measured, r.step.seconds);
        if (r.step.intervals.empty()) {
            add_memory_json(out, r.plan);
            return readable_json(out);
        }
        if (r.step.measured->high > 0) range = {r.step.measured->low, r.step.measured->high};
    } else if (prediction != nullptr) {
        range = prediction->band;
    }
    add_times_json(out, r, range);
    if (prediction != nullptr && prediction->step_ahead)
        out["step_if_nothing_is_clipped_s"] = *prediction->step_ahead;
    if (prediction != nullptr && prediction->other_rates)
        add_other_rates_json(out, *prediction->other_rates);
    if (prediction != nullptr) add_cost_json(out, *prediction);
    add_use_json(out, r);
    add_memory_json(out, r.plan);
    out["lanes"] = lanes_json(r.step);
    add_advice_json(out, prediction != nullptr ? prediction->advice : StepAdvice());
    out["assumptions"] = assumptions(r);
    if (r.step.measured || with_operations) out["operations"] = operations_json(r);
    return readable_json(out);
}

}  // namespace

std::string report_json(const Prediction& prediction) { return json_of(prediction, &prediction); }

std::string report_operations_json(const Prediction& prediction) {
    return json_of(prediction, &prediction, true);
}

std::string report_json(const TimedPlan& measured) { return json_of(measured, nullptr); }

}  // namespace sluice

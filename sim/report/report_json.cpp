// The report as JSON: keys carry units, and but for the operations of a measured step nothing is
// rounded.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/json_text.h"
#include "sim/plan/step_report.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

Json training_json(const TrainingSpec& training) {
    Json out;
    for (const Option& option : training_options()) {
        if (option.choices.empty()) {
            out[option.field] = static_cast<std::int64_t>(option.get(training));
        } else {
            out[option.field] = option_text(training, option);
        }
    }
    return out;
}

Json by_kind_json(const BytesByKind& by_kind) {
    Json out;
    for (int i = 0; i < kMemoryKindCount; ++i) {
        std::string key = memory_kind_name(static_cast<MemoryKind>(i));
        for (char& c : key) c = c == ' ' ? '_' : c;
        out[key + "_bytes"] = by_kind[static_cast<std::size_t>(i)];
    }
    return out;
}

Json tier_json(const Fit::OfTier& tier) {
    return {{"peak_bytes", tier.peak.bytes},
            {"usable_bytes", tier.usable},
            {"short_bytes", tier.shortfall()},
            {"by_kind", by_kind_json(tier.peak.by_kind)}};
}

Json lanes_json(const StepReport& r) {
    Json out;
    for (int i = 0; i < kLaneCount; ++i) {
        const LaneTime& lane = r.lanes[static_cast<std::size_t>(i)];
        if (lane.operations == 0) continue;
        out[lane_name(static_cast<Lane>(i))] = {{"busy_s", lane.busy},
                                                {"exposed_s", lane.exposed},
                                                {"idle_s", lane.idle},
                                                {"bytes", lane.bytes},
                                                {"operations", lane.operations}};
    }
    return out;
}

/// A row an operation, in the plan's order; seconds from the start of the first compute operation.
Json operations_json(const StepReport& r) {
    constexpr int kDigits = 9;
    Json rows = Json::array();
    for (std::size_t i = 0; i < r.operations.size(); ++i) {
        const Operation& operation = r.program.operations[i];
        rows.push_back({operation_label(operation, r.layers), lane_name(operation.lane),
                        operation.micro_batch, rounded(r.operations[i].start, kDigits),
                        rounded(r.operations[i].end, kDigits)});
    }
    return {{"columns", {"operation", "lane", "micro_batch", "start_s", "end_s"}}, {"rows", rows}};
}

Json host_timeline_json(const StepReport& r) {
    Json out = Json::array();
    for (const HostMoment& moment : r.host_timeline)
        out.push_back(
            {{"moment", moment.name}, {"bytes", moment.bytes}, {"beyond_steady", moment.what}});
    return out;
}

void add_advice_json(Json& out, const StepReport& r) {
    out["remedies"] = Json::array();
    for (const Remedy& remedy : r.remedies)
        out["remedies"].push_back({{"lane", lane_name(remedy.lane)}, {"change", remedy.sentence}});
    out["suggestions"] = Json::array();
    for (const Suggestion& s : r.suggestions)
        out["suggestions"].push_back({{"flags", s.change},
                                      {"device_peak_bytes", s.device_peak},
                                      {"host_peak_bytes", s.host_peak}});
    if (r.no_suggestion) out["no_suggestion"] = no_suggestion_text(*r.no_suggestion);
}

}  // namespace

std::string report_json(const StepReport& r) {
    Json out;
    out["model"] = {{"name", r.model_name},
                    {"parameters", r.parameters},
                    {"active_parameters", r.active_parameters},
                    {"layers", r.layers},
                    {"tied_embeddings", r.tied_embeddings}};
    out["machine"] = {
        {"id", r.machine_id}, {"name", r.machine_name}, {"changes", r.machine_changes}};
    out["training"] = training_json(r.training);
    out["fits"] = r.fit.fits();
    out["measured"] = r.measured;
    if (r.measured) {
        out["measured_device_bytes"] = r.measured_device;
        out["measured_host_bytes"] = r.measured_host;
        out["steps_measured"] = r.steps_measured;
        out["precision"] = precision_name(r.precision);
    }
    if (r.has_band()) {
        out["step_5_percent_s"] = r.step_low;
        out["step_95_percent_s"] = r.step_high;
    }
    out["step_s"] = r.step;
    if (!r.measured) out["first_step_s"] = r.first_step;
    out["tokens_per_step"] = r.training.tokens();
    out["tokens_per_s"] = r.tokens_per_s();
    if (r.has_band()) {
        out["tokens_per_s_5_percent"] = r.tokens_per_s_at(r.step_high);
        out["tokens_per_s_95_percent"] = r.tokens_per_s_at(r.step_low);
    }
    if (r.has_price()) {
        out["usd_per_hour"] = r.usd_per_hour;
        out["usd_per_hour_of"] = r.usd_per_hour_of;
        out["usd_per_million_tokens"] = r.usd_per_million_tokens_at(r.step);
    }
    out["model_tflops_per_s"] = r.model_flops_per_s() / kTera;
    out["model_tflops_formula"] = "6 x active parameters x tokens / step_s";
    out["executed_tflops_per_s"] = r.executed_flops_per_s() / kTera;
    out["utilization"] = Json::object();
    for (const Utilization& used : r.utilization) out["utilization"][used.resource] = used.share;
    out["bottleneck"] = r.bottleneck;
    out["bottleneck_words"] = r.bottleneck_words;
    out["confidence"] = confidence_name(r.confidence);
    out["device_peak_bytes"] = r.fit.device.peak.bytes;
    out["device_capacity_bytes"] = r.device_capacity;
    out["device_context_bytes"] = r.device_context;
    out["host_peak_bytes"] = r.fit.host.peak.bytes;
    out["host_between_steps_bytes"] = r.host_between_steps;
    out["host_capacity_bytes"] = r.host_capacity;
    out["unified_memory"] = r.unified_memory;
    out["memory"] = {{"device", tier_json(r.fit.device)}, {"host", tier_json(r.fit.host)}};
    if (r.fit.storage.peak.bytes > 0) out["memory"]["storage"] = tier_json(r.fit.storage);
    out["host_timeline"] = host_timeline_json(r);
    out["lanes"] = lanes_json(r);
    add_advice_json(out, r);
    out["assumptions"] = r.assumptions;
    if (r.measured) out["operations"] = operations_json(r);
    return readable_json(out);
}

}  // namespace sluice

// The report as text: one screen.
#include <fmt/format.h>

#include <numeric>

#include "sim/answers/predict/prediction.h"
#include "sim/base/format.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

void append_heading(std::string& out, const TimedPlan& r) {
    const std::string active =
        r.asked.active_parameters == r.asked.parameters
            ? ""
            : fmt::format(", {} active", format_count(r.asked.active_parameters));
    out += fmt::format("{} ({} parameters{}, {}) on {}\n", r.asked.model_name,
                       format_count(r.asked.parameters), active,
                       format_number_of(r.asked.layers, "layer"), r.asked.gpus_and_machine());
    std::string settings;  // folded between two of them
    std::size_t line = 0;  // where the last line begins
    const TrainingSpec standard;
    for (const Option& option : training_options()) {
        const std::string field = option.field;
        if (!has_option(r.asked.training.schedule, option)) continue;
        const bool always =
            field == "schedule" || field == "batch" || field == "seq" || field == "buffer_depth";
        if (!always && option.get(r.asked.training) == option.get(standard)) continue;
        const std::string one = field + " " + option_text(r.asked.training, option);
        if (!settings.empty()) settings += ",";
        if (settings.size() - line + 1 + one.size() >= kWidestTable) {
            settings += "\n ";
            line = settings.size() - 1;
        }
        settings += (settings.empty() ? "" : " ") + one;
    }
    out += settings + "\n";
    if (!r.asked.machine_changes.empty())
        out += fmt::format("what-if: {}\n", fmt::join(r.asked.machine_changes, " "));
    for (const std::string& note : {r.asked.model_note, r.plan.note})
        if (!note.empty()) out += fmt::format("note: {}\n", note);
}

std::string used_of(const Fit::OfMemory& tier) {
    return fmt::format("{} of {}", format_bytes(tier.peak.bytes), format_bytes(tier.usable));
}

void append_misfit(std::string& out, const TimedPlan& r, const StepAdvice& advice) {
    out += "DOES NOT FIT\n";
    for (const std::string& words : shortages(r.plan)) out += fmt::format("  {}\n", words);
    for (const std::string& words : fitting_words(advice)) out += fmt::format("  {}\n", words);
    out += "  what follows assumes that it fits\n";
}

std::string measured_range(const Measurement& measured) {
    if (measured.steps == 1) return "; of one step";
    const std::string range =
        fmt::format("{} to {}", format_seconds(measured.low), format_seconds(measured.high));
    return measured.steps > 0 && measured.steps < kFewSteps
               ? fmt::format("; fastest and slowest of {}: {}", measured.steps, range)
               : fmt::format("; nine in ten steps took {}", range);
}

/// The range of a measured step; the band and the first step of a predicted one.
std::string beside_speed(const TimedPlan& r, const std::optional<Band>& band) {
    if (r.step.measured) return measured_range(*r.step.measured);
    const std::string range =
        band ? fmt::format(" (5 to 95%: {} to {})", format_thousands(r.tokens_per_s_at(band->high)),
                           format_thousands(r.tokens_per_s_at(band->low)))
             : "";
    return fmt::format("{}; the first step takes {}", range, format_seconds(r.step.first));
}

void append_fit(std::string& out, const TimedPlan& r, const StepAdvice& advice) {
    if (r.plan.fit.fits()) {
        const Fit& fit = r.plan.fit;
        out += fmt::format(
            "fits         device {} (plus CUDA context {}), host {}{}\n", used_of(fit.device()),
            format_bytes(r.plan.device_context), used_of(fit.host()),
            fit.storage().peak.bytes > 0 ? ", storage " + used_of(fit.storage()) : "");
    } else {
        append_misfit(out, r, advice);
    }
}

void append_speed(std::string& out, const TimedPlan& r, const std::optional<Band>& band) {
    out += fmt::format("speed        {} a step, {} tokens/s{}\n", format_seconds(r.step.seconds),
                       format_thousands(r.tokens_per_s()), beside_speed(r, band));
    const double useful = r.model_flops_per_s(), executed = r.executed_flops_per_s();
    out += fmt::format(
        "             {:.1f} TFLOPS useful (6PT: 6 FLOPs per token and active parameter), {:.1f} "
        "executed{}\n",
        useful / kTera, executed / kTera,
        useful > executed ? "; 6PT counts the embedding, whose rows are looked up" : "");
    out += fmt::format("bound by     {}\n", bottleneck_text(r.step));
}

void append_ahead(std::string& out, const Prediction& r) {
    if (!r.step_ahead) return;
    out += fmt::format("not clipped  {} a step, {} tokens/s ({}), since updates then begin early\n",
                       format_seconds(*r.step_ahead),
                       format_thousands(r.tokens_per_s_at(*r.step_ahead)),
                       format_error(r.step.seconds / *r.step_ahead - 1));
}

void append_cost(std::string& out, const Prediction& r) {
    if (!r.cost) return;
    if (!r.has_rent()) {
        out += "cost         electricity alone, as the machine is yours; `sluice cost` counts it\n";
        return;
    }
    const auto usd = [&](Seconds step) { return format_usd(r.usd_per_million_tokens_at(step)); };
    const std::string range =
        r.band ? fmt::format(" (5 to 95%: {} to {})", usd(r.band->low), usd(r.band->high)) : "";
    const Payment& cost = *r.cost;
    out += fmt::format("cost         {} a million tokens{}, at {} an hour\n", usd(r.step.seconds),
                       range, format_usd(cost.usd_per_hour));
    if (cost.paid) out += fmt::format("             {}\n", paid_words(*cost.paid));
    out += fmt::format("             {}\n", offer_words(cost));
}

void append_choice(std::string& out, const PlanChoice& choice) {
    out += "\n";
    if (choice.settings.empty()) {
        out += choice.step ? "no other plan with this batch and the given options is faster\n"
                           : "no plan with this batch, these states and the given options fits in "
                             "this memory\n";
        return;
    }
    out += to_text(plan_choice_table(choice));
    if (choice.step_as_asked)
        out += fmt::format("without these changes a step takes {}\n",
                           format_seconds(*choice.step_as_asked));
    else
        out += "without these changes the step does not fit\n";
}

void append_faster_plan(std::string& out, const Prediction& r) {
    if (!r.faster_plan) return;
    const Seconds step = *r.faster_plan->step;
    out += fmt::format("--plan auto  {} a step, {} tokens/s{}: {}\n", format_seconds(step),
                       format_thousands(r.tokens_per_s_at(step)),
                       r.faster_plan->step_as_asked
                           ? fmt::format(" ({})", format_error(r.step.seconds / step - 1))
                           : ", and fits",
                       setting_flags(changed_settings(r.asked.training, r.faster_plan->training)));
}

void append_lanes(std::string& out, const TimedPlan& r, const std::vector<Remedy>& remedies) {
    out += "\n" + to_text(lanes_table(r.step));
    for (const Remedy& remedy : remedies) out += fmt::format("  {}\n", remedy_text(remedy));
    std::string shares;
    for (const Utilization& used : r.step.utilization)
        shares += fmt::format("{}{} {}", shares.empty() ? "" : ", ", resource_name(used.resource),
                              format_percent(used.share));
    if (!shares.empty()) out += fmt::format("utilization: {}\n", shares);
}

/// One row per kind that any memory holds.
Table memory_table(const Fit& fit) {
    std::vector<std::size_t> kinds(kMemoryKindCount);
    std::iota(kinds.begin(), kinds.end(), 0);
    std::erase_if(kinds, [&](std::size_t kind) {
        return std::ranges::all_of(
            fit.memories, [kind](const Fit::OfMemory& one) { return one.peak.by_kind[kind] == 0; });
    });
    const auto name = [](std::size_t kind) {
        return memory_kind_name(static_cast<MemoryKind>(kind));
    };
    std::vector<ColumnOf<std::size_t>> columns = {{"", "memory in a step", name}};
    for (const Fit::OfMemory& one : fit.memories)
        columns.push_back(
            {"", memory_name(one.memory), Unit::bytes, [&one](std::size_t kind) {
                 return Cell(one.peak.by_kind[kind]).hidden_if(one.peak.by_kind[kind] == 0);
             }});
    return table_of<std::size_t>(kinds, columns);
}

void append_memory(std::string& out, const TimedPlan& r) {
    out += "\n" + to_text(memory_table(r.plan.fit));
    // With unified memory the host's peak has the device's buffers, too.
    const auto operations = static_cast<OperationId>(r.plan.program.operations.size());
    const Bytes of_device =
        r.plan.fit.host().peak.bytes - host_peak(r.plan.memory, operations).bytes;
    out += fmt::format("host over time{}:",
                       r.plan.unified_memory && of_device > 0
                           ? fmt::format(", beside {} of device buffers", format_bytes(of_device))
                           : "");
    for (const HostMoment& moment : r.plan.memory.host_moments)
        out += fmt::format(" {} {},", moment.name, format_bytes(moment.bytes));
    out += fmt::format(" between steps {}\n", format_bytes(r.plan.memory.host_between_steps));
}

void append_assumptions(std::string& out, const TimedPlan& r) {
    if (const std::vector<std::string> all = assumptions(r); !all.empty())
        out += "\nassumed:\n" + assumption_lines(all);
}

}  // namespace

Table lanes_table(const Step& step) {
    const auto time = [&](Seconds LaneTime::*member, bool of_compute) {
        return [&step, member, of_compute](Lane lane) {
            const Seconds seconds = step.lane(lane).*member;
            return Cell(seconds)
                .shown_as(fmt::format("{} {:>5}", format_seconds(seconds),
                                      format_percent(seconds / step.seconds)))
                .hidden_if(!of_compute && lane.work == Work::compute);
        };
    };
    return table_of<Lane>(
        step.used_lanes(),
        {{"lane", "lane",
          [](Lane lane) { return Cell(lane_name(lane)).shown_as(lane_label(lane)); }},
         {"busy_s", "busy", Unit::seconds, time(&LaneTime::busy, true)},
         {"exposed_s", "exposed", Unit::seconds, time(&LaneTime::exposed, false)},
         {"idle_s", "idle", Unit::seconds, time(&LaneTime::idle, true)},
         {"bytes", "moved", Unit::bytes,
          [&](Lane lane) {
              return Cell(step.lane(lane).bytes).hidden_if(lane.work == Work::compute);
          }},
         {"operations", "", Unit::whole, [&](Lane lane) { return step.lane(lane).operations; }}});
}

Table plan_choice_table(const PlanChoice& choice) {
    return table_of<ChosenSetting>(
        choice.settings,
        {{"field", "chosen", [](const ChosenSetting& one) { return one.setting.field; }},
         {"value", "value", [](const ChosenSetting& one) { return one.setting.value; }},
         {"step_without_s", "a step without it", Unit::seconds, [](const ChosenSetting& one) {
              return one.step_without ? Cell(*one.step_without) : Cell().shown_as("does not fit");
          }}});
}

std::string report_text(const Prediction& prediction) {
    std::string out;
    append_heading(out, prediction);
    out += "\n";
    out += settings_line(prediction);
    append_fit(out, prediction, prediction.advice);
    append_speed(out, prediction, prediction.band);
    append_ahead(out, prediction);
    append_faster_plan(out, prediction);
    append_cost(out, prediction);
    if (const RunsToday& today = prediction.asked.runs_today; !today.runs())
        out += fmt::format("runs today   no: {}\n", today.why_not);
    out += fmt::format("confidence   {} rates of the machine\n",
                       confidence_name(prediction.plan.confidence));
    if (prediction.choice) append_choice(out, *prediction.choice);
    append_lanes(out, prediction, prediction.advice.remedies);
    append_memory(out, prediction);
    append_assumptions(out, prediction);
    return out;
}

std::string report_text(const TimedPlan& measured) {
    std::string out;
    append_heading(out, measured);
    out += "\n";
    append_fit(out, measured, {});
    append_speed(out, measured, {});
    const Measurement& of_run = *measured.step.measured;
    out += fmt::format("measured     device {} at most, host {} resident\n",
                       format_bytes(of_run.device), format_bytes(of_run.host));
    if (of_run.gpu_watts > 0)
        out += fmt::format("energy       {:.0f} J a step, the GPU's counter: {:.0f} W\n",
                           of_run.gpu_watts * measured.step.seconds, of_run.gpu_watts);
    append_lanes(out, measured, {});
    append_memory(out, measured);
    append_assumptions(out, measured);
    return out;
}

std::string report_heading(const Prediction& prediction) {
    std::string out;
    append_heading(out, prediction);
    out += settings_line(prediction);
    append_fit(out, prediction, prediction.advice);
    return out;
}

std::string report_operations(const TimedPlan& r) {
    Table out{{{"", "id", Unit::whole},
               {"", "lane"},
               {"", "operation"},
               {"", "start", Unit::seconds},
               {"", "duration", Unit::seconds},
               {"", "moved", Unit::bytes},
               {"", "GB/s", Unit::number},
               {"", "waits for"}}};
    const auto ms = [](Seconds time) {
        return Cell(time).shown_as(fmt::format("{:.3f} ms", time * kKilo));
    };
    for (std::size_t i = 0; i < r.plan.program.operations.size(); ++i) {
        const Operation& op = r.plan.program.operations[i];
        const OperationInterval& when = r.step.intervals[i];
        std::string waits;
        for (const Dependency& wait : op.waits_for)
            waits += fmt::format("{}{}{}", waits.empty() ? "" : " ", wait.operation,
                                 wait.previous_step ? "(step before)" : "");
        const double moved = op.link_bytes + op.host_bytes;
        const Seconds duration = when.end - when.start;
        const double rate = moved / duration / kGiga;
        out.rows.push_back(
            {{i, lane_label(op.lane), operation_label(op, r.asked.layers), ms(when.start),
              ms(duration), Cell(moved).hidden_if(moved == 0),
              Cell(rate).shown_as(fmt::format("{:.1f}", rate)).hidden_if(moved == 0), waits}});
    }
    return to_text(out);
}

}  // namespace sluice

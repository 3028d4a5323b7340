#include "engine/train/expected_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

constexpr double kMost = std::numeric_limits<double>::max();
constexpr double kLeastFactor = 1e-6;
constexpr Seconds kShortest = 1e-9, kLongest = 1e9;  // of a step that anyone predicts
constexpr std::int64_t kMostWhole = std::numeric_limits<std::int64_t>::max();

constexpr double kRounding = 1e-6;     // s or bytes; less is shown as 0
constexpr double kMostInPercent = 10;  // times the predicted one

struct Compared {
    std::string name;
    double expected, measured;
    std::string (*text)(double);
};

std::string seconds_text(double value) { return format_seconds(value); }
std::string bytes_text(double value) { return format_bytes(static_cast<Bytes>(value)); }

/// All zero if the step has fewer devices.
LaneTime lane_of(const Step& step, Lane lane) {
    return lane.index() < step.lanes.size() ? step.lane(lane) : LaneTime();
}

std::vector<Compared> compared(const ExpectedStep& expected, const TimedPlan& measured) {
    const Measurement& memory = *measured.step.measured;
    const auto number = [](Bytes bytes) { return static_cast<double>(bytes); };
    const auto tokens = static_cast<double>(measured.asked.training.tokens());
    std::vector<Compared> out = {
        {"step", expected.step, measured.step.seconds, seconds_text},
        {"tokens/s", tokens / expected.step, measured.tokens_per_s(),
         [](double value) { return format_thousands(value); }},
        {"device memory", number(expected.device), number(memory.device), bytes_text},
        {"host memory", number(expected.host), number(memory.host), bytes_text},
    };
    for (std::size_t i = 0; i < expected.lanes.size(); ++i) {
        const Lane lane = Lane::at(i);
        const std::optional<ExpectedStep::Times>& times = expected.lanes[lane];
        if (!times) continue;
        const LaneTime now = lane_of(measured.step, lane);
        out.push_back(
            {fmt::format("{} busy", lane_label(lane)), times->busy, now.busy, seconds_text});
        if (lane.work != Work::compute)
            out.push_back({fmt::format("{} exposed", lane_label(lane)), times->exposed, now.exposed,
                           seconds_text});
    }
    return out;
}

/// The predicted step is the one at a factor of 1.
Interpolated steps_by_factor(std::vector<std::pair<double, double>> points, Seconds at_one) {
    points.emplace_back(1, at_one);
    std::sort(points.begin(), points.end());
    return Interpolated(std::move(points));
}

Interpolated steps_by_factor(const JsonObject& steps, const char* group, Seconds at_one) {
    std::vector<std::pair<double, double>> points;
    for (const JsonObject& one : steps.objects(group))
        points.emplace_back(one.number("factor", kLeastFactor, kMost),
                            one.number("step_s", 0, kMost));
    return steps_by_factor(std::move(points), at_one);
}

Interpolated steps_by_factor(const OtherRates& rates, RateGroup group, Seconds at_one) {
    std::vector<std::pair<double, double>> points;
    for (const StepAtRate& one : rates.steps)
        if (one.group == group) points.emplace_back(one.factor, one.step);
    return steps_by_factor(std::move(points), at_one);
}

std::optional<ExpectedRates> read_rates(const JsonObject& root, Seconds step) {
    const auto rates = root.object_or_none("host_rates");
    const auto steps = root.object_or_none("step_at_other_rates");
    if (!rates || !steps) return std::nullopt;
    const auto rate = [&](const char* key) {
        return kGiga * rates->number(key, kLeastFactor, kMost / kGiga);
    };
    return ExpectedRates{step,
                         {rate("adam_gparams_per_s"), rate("host_to_device_gb_per_s"),
                          rate("device_to_host_gb_per_s")},
                         steps_by_factor(*steps, "optimizer", step),
                         steps_by_factor(*steps, "link", step)};
}

}  // namespace

ExpectedStep expected_of(const Prediction& prediction) {
    ExpectedStep out;
    out.model = prediction.asked.model_name;
    out.parameters = prediction.asked.parameters;
    out.training = option_texts(prediction.asked.training);
    out.step = prediction.step.seconds;
    out.device = prediction.plan.fit.device().peak.bytes;
    out.host = prediction.plan.fit.host().peak.bytes;
    out.lanes = ByLane<std::optional<ExpectedStep::Times>>(prediction.plan.program.devices());
    for (const Lane lane : prediction.step.used_lanes()) {
        const LaneTime& times = prediction.step.lane(lane);
        out.lanes[lane] = {times.busy, times.exposed};
    }
    if (const auto& rates = prediction.other_rates)
        out.rates = {out.step, rates->profile,
                     steps_by_factor(*rates, RateGroup::optimizer, out.step),
                     steps_by_factor(*rates, RateGroup::link, out.step)};
    out.step_ahead = prediction.step_ahead;
    return out;
}

ExpectedStep read_expected_step(const std::string& file) {
    const JsonObject root = JsonObject::parse(read_text_file(file), file);
    if (!root.has("lanes") || !root.has("training") || root.boolean_or("measured", true))
        throw InputError(fmt::format(
            "{}: is no prediction; write one with: sluice predict ... --json >{}", file, file));
    if (!root.boolean_or("fits", false))
        throw InputError(
            fmt::format("{}: the predicted plan does not fit its machine; choose "
                        "other settings, or sluice predict --plan auto",
                        file));
    ExpectedStep out;
    out.file = file;
    out.model = root.object("model").text("name");
    out.parameters = root.object("model").integer("parameters", 1, kMostWhole);
    const JsonObject training = root.object("training");
    TrainingSpec refuses_mistakes;
    for (const char* field : {"batch", "seq"}) training.integer(field, 1, kMostWhole);
    set_options(refuses_mistakes, training);
    try {
        check_training_spec(refuses_mistakes);  // also refuses options of other schedules
    } catch (const InputError& error) {
        throw InputError(fmt::format("{}: training: {}", file, error.what()));
    }
    for (const Option& option : training_options())
        if (training.has(option.field) && has_option(refuses_mistakes.schedule, option))
            out.training[option.field] = training.scalar_text(option.field);
    out.step = root.number("step_s", kShortest, kLongest);
    out.device = root.integer("device_peak_bytes", 0, kMostWhole);
    out.host = root.integer("host_peak_bytes", 0, kMostWhole);
    const JsonObject lanes = root.object("lanes");
    for (std::size_t i = 0; i < out.lanes.size(); ++i) {
        const std::optional<JsonObject> lane = lanes.object_or_none(lane_name(Lane::at(i)));
        if (!lane) continue;
        out.lanes[Lane::at(i)] = {lane->number("busy_s", 0, kMost),
                                  lane->has("exposed_s") ? lane->number("exposed_s", 0, kMost) : 0};
    }
    out.rates = read_rates(root, out.step);
    out.step_ahead = root.number_or_none("step_if_nothing_is_clipped_s", kShortest, kLongest);
    return out;
}

ExpectedStep ExpectedStep::of(bool ahead) const {
    ExpectedStep out = *this;
    if (!ahead || !step_ahead) return out;
    out.step = *step_ahead;
    out.lanes = ByLane<std::optional<Times>>();
    out.rates.reset();
    return out;
}

void check_expected_model(const ExpectedStep& expected, const ModelSpec& model) {
    if (expected.parameters == total_parameters(model)) return;
    throw InputError(fmt::format(
        "--plan {}: is for {} with {} parameters, but --model has {}; predict with the same "
        "--model, --layers, --untied and --resize-vocabulary",
        expected.file, expected.model, expected.parameters, total_parameters(model)));
}

Table expected_table(const ExpectedStep& expected, const TimedPlan& measured) {
    return table_of<Compared>(
        compared(expected, measured),
        {{"name", "against the prediction", [](const Compared& row) { return row.name; }},
         {"predicted", "predicted", Unit::number,
          [](const Compared& row) { return Cell(row.expected).shown_as(row.text(row.expected)); }},
         {"measured", "measured", Unit::number,
          [](const Compared& row) { return Cell(row.measured).shown_as(row.text(row.measured)); }},
         {"difference", "difference", Unit::change, [](const Compared& row) {
              const double times = row.measured / row.expected;
              Cell cell = Cell(times - 1).hidden_if(row.expected < kRounding);
              return times < kMostInPercent
                         ? cell
                         : std::move(cell).shown_as(format_thousands(times) + " times");
          }}});
}

namespace {

/// The lane whose time differs most from the plan, as far as that changes the step: compute adds
/// all of its time, another lane the time for which compute waits.
struct Deviation {
    Lane lane;
    Seconds longer = 0;
    double busy_change = 0;  ///< of all its time
};

Deviation largest_deviation(const ExpectedStep& expected, const TimedPlan& measured) {
    Deviation most;
    for (std::size_t i = 0; i < expected.lanes.size(); ++i) {
        const Lane lane = Lane::at(i);
        const auto& times = expected.lanes[lane];
        if (!times) continue;
        const LaneTime now = lane_of(measured.step, lane);
        const Seconds longer =
            lane.work == Work::compute ? now.busy - times->busy : now.exposed - times->exposed;
        if (std::abs(longer) > std::abs(most.longer))
            most = {lane, longer, times->busy > 0 ? now.busy / times->busy - 1 : 0};
    }
    return most;
}

}  // namespace

std::string largest_difference(const ExpectedStep& expected, const TimedPlan& measured) {
    const Deviation most = largest_deviation(expected, measured);
    if (most.longer == 0) return "";
    return fmt::format(
        "most of the difference: {} {} is {} {} than predicted, {} of the step",
        lane_words(most.lane), most.lane.work == Work::compute ? "time" : "exposed time",
        format_seconds(std::abs(most.longer)), most.longer < 0 ? "shorter" : "longer",
        format_percent(std::abs(most.longer) / expected.step));
}

std::string against_plan(const ExpectedStep& expected, const TimedPlan& measured) {
    constexpr double kLeast = 0.01;
    const std::string speed = format_percent(expected.step / measured.step.seconds) + " of plan";
    const Deviation most = largest_deviation(expected, measured);
    if (std::abs(most.longer) < kLeast * expected.step) return speed;
    const bool is_slower = most.longer > 0;
    // A lane may be as fast as planned and still be waited for longer.
    if (most.busy_change > 1)
        return fmt::format("{}; {} takes {:.1f} times as long as planned", speed,
                           lane_words(most.lane), 1 + most.busy_change);
    if (std::abs(most.busy_change) >= kLeast && (most.busy_change > 0) == is_slower)
        return fmt::format("{}; {} {} {} than planned", speed, lane_words(most.lane),
                           format_percent(std::abs(most.busy_change)),
                           is_slower ? "slower" : "faster");
    return fmt::format("{}; compute waits {} {} for {} than planned", speed,
                       format_seconds(std::abs(most.longer)), is_slower ? "longer" : "shorter",
                       lane_words(most.lane));
}

}  // namespace sluice

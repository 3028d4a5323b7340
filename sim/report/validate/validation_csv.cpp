#include <fmt/format.h>

#include "sim/base/format.h"
#include "sim/base/json_text.h"
#include "sim/report/validate/validation_report.h"

namespace sluice {
namespace {

constexpr const char* kHead =
    "group,name,model,layers,batch,seq,measured_step_s,predicted_step_s,step_error,"
    "measured_tokens_per_s,predicted_tokens_per_s,throughput_error,measured_device_bytes,"
    "predicted_device_bytes,device_error,measured_host_bytes,predicted_host_bytes,host_error,"
    "predicted_step_5_percent_s,predicted_step_95_percent_s,in_band,steps_measured,precision,"
    "processes,process_spread,processes_in_band\n";

std::string number(std::optional<double> value) {
    return value ? fmt::format("{}", rounded(*value, 6)) : "";
}

/// Bytes, or how many; 0 is not known.
std::string count(std::int64_t value) { return value > 0 ? fmt::format("{}", value) : ""; }

std::string truth(std::optional<bool> value) { return value ? (*value ? "true" : "false") : ""; }

std::string line(const RunComparison& c) {
    const MeasuredRun& run = c.run;
    const Prediction& predicted = c.predicted;
    std::optional<Seconds> low, high;
    if (predicted.band) low = predicted.band->low, high = predicted.band->high;
    const std::vector<std::string> fields = {csv_text(run.group),
                                             csv_text(run.name),
                                             csv_text(run.model.name),
                                             count(run.model.layer_count()),
                                             count(run.training.batch),
                                             count(run.training.sequence),
                                             number(run.step),
                                             number(predicted.step.seconds),
                                             number(c.step_error()),
                                             number(run.tokens_per_s()),
                                             number(predicted.tokens_per_s()),
                                             number(c.throughput_error()),
                                             count(run.device),
                                             count(c.predicted_device),
                                             number(c.device_error()),
                                             count(run.host),
                                             count(c.predicted_host),
                                             number(c.host_error()),
                                             number(low),
                                             number(high),
                                             truth(c.in_band()),
                                             count(run.steps),
                                             precision_name(run.precision),
                                             count(run.process_count()),
                                             number(run.process_spread()),
                                             number(c.steps_in_band())};
    return fmt::format("{}\n", fmt::join(fields, ","));
}

}  // namespace

std::string validation_csv(const Validation& v) {
    std::string out = kHead;
    for (const RunComparison& c : v.runs) out += line(c);
    return out;
}

}  // namespace sluice

// How does a step look in Perfetto? Two consecutive steady steps as Chrome trace events, one thread
// per lane. Two reports of one plan have their lanes next to each other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/plan/step.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kProcess = 1;
constexpr int kSteps = 2;
// Times are multiples of 1/8 us: exact in binary, and whole nanoseconds (125). Rounding in a reader
// therefore never makes neighbours overlap; Perfetto drops events of a thread that overlap.
constexpr double kTicksPerMicrosecond = 8;
constexpr double kArrowLead =
    1 / kTicksPerMicrosecond;  // an arrow starts within its event, not at its end

/// An operation in one of the steps. Microseconds from the first event.
struct Slice {
    double start = 0;
    double end = 0;
    double lane_free = 0;  ///< end of the previous operation in its lane
};

const char* how(const TimedPlan& report) { return report.step.measured ? "measured" : "predicted"; }

Seconds first_start(const TimedPlan& report) {
    Seconds first = std::numeric_limits<Seconds>::infinity();
    for (const OperationInterval& interval : report.step.intervals)
        first = std::min(first, interval.start);
    return first;
}

struct Events {
    std::vector<std::string> lines;
    int arrows = 0;

    /// Model names come from files: an invalid UTF-8 byte must not make the trace fail.
    void add(const Json& event) {
        lines.push_back(event.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
};

/// The thread id that puts the same lanes of all reports next to each other.
struct Threads {
    int index = 0, reports = 1;
    int of(Lane lane) const { return static_cast<int>(lane.index()) * reports + index + 1; }
};

/// Writes the events of one report. Time 0 of the trace is `first` seconds after its first compute
/// operation.
class ReportTrace {
  public:
    ReportTrace(const TimedPlan& report, Threads threads, Seconds first, Events& events)
        : report_(report), threads_(threads), events_(events) {
        lay_out(first);
    }

    void write() {
        metadata();
        for (int step = 0; step < kSteps; ++step) {
            for (std::size_t i = 0; i < report_.step.intervals.size(); ++i) operation(step, i);
        }
    }

  private:
    const Operation& operation_at(std::size_t i) const {
        return report_.plan.program.operations[i];
    }
    const Slice& slice(int step, std::size_t i) const {
        return slices_[static_cast<std::size_t>(step) * report_.step.intervals.size() + i];
    }
    std::string label(const Operation& operation) const {
        return operation_label(operation, report_.asked.layers);
    }

    void lay_out(Seconds first) {
        ByLane<double> lane_end(report_.plan.program.devices());
        for (int step = 0; step < kSteps; ++step) {
            for (std::size_t i = 0; i < report_.step.intervals.size(); ++i) {
                const OperationInterval& interval = report_.step.intervals[i];
                const Seconds shift = step * report_.step.seconds - first;
                double& free = lane_end[operation_at(i).lane];
                const double start = std::max(free, microseconds(interval.start + shift));
                const double end = std::max(start, microseconds(interval.end + shift));
                slices_.push_back({start, end, free});
                free = end;
            }
        }
    }

    static double microseconds(Seconds time) {
        return std::round(time * kMega * kTicksPerMicrosecond) / kTicksPerMicrosecond;
    }

    void metadata() {
        for (const Lane lane : report_.step.used_lanes()) {
            std::string name = lane_label(lane);
            if (threads_.reports > 1) name += std::string(" ") + how(report_);
            thread_metadata(lane, "thread_name", {{"name", name}});
            thread_metadata(lane, "thread_sort_index", {{"sort_index", threads_.of(lane) - 1}});
        }
    }

    void thread_metadata(Lane lane, const char* name, Json args) {
        events_.add({{"ph", "M"},
                     {"pid", kProcess},
                     {"tid", threads_.of(lane)},
                     {"name", name},
                     {"args", std::move(args)}});
    }

    void operation(int step, std::size_t i) {
        const Operation& operation = operation_at(i);
        const Slice& at = slice(step, i);
        events_.add({{"ph", "X"},
                     {"pid", kProcess},
                     {"tid", threads_.of(operation.lane)},
                     {"ts", at.start},
                     {"dur", at.end - at.start},
                     {"name", label(operation)},
                     {"cat", operation_name(operation.kind)},
                     {"args", arguments(i)}});
        arrow(step, i);
    }

    Json arguments(std::size_t i) const {
        const Operation& operation = operation_at(i);
        Json args = {{"layer", operation.layer}, {"micro_batch", operation.micro_batch}};
        if (operation.micro_batches > 1) args["micro_batches"] = operation.micro_batches;
        if (operation.link_bytes > 0) args["link_bytes"] = std::llround(operation.link_bytes);
        if (operation.host_bytes > 0) args["host_bytes"] = std::llround(operation.host_bytes);
        const double bytes = operation.link_bytes > 0 ? operation.link_bytes : operation.host_bytes;
        const Seconds time = report_.step.intervals[i].end - report_.step.intervals[i].start;
        if (bytes > 0 && time > 0) args["rate_gb_per_s"] = std::round(bytes / time / kMega) / kKilo;
        Json waits = Json::array();
        for (const Dependency& wait : operation.waits_for) {
            const std::string name = label(operation_at(static_cast<std::size_t>(wait.operation)));
            waits.push_back(wait.previous_step ? name + " (previous step)" : name);
        }
        if (!waits.empty()) args["waits_for"] = std::move(waits);
        return args;
    }

    /// An arrow from the dependency that ended last, if the operation waited for it.
    void arrow(int step, std::size_t i) {
        const Slice& to = slice(step, i);
        const Slice* from = nullptr;
        Lane lane;
        for (const Dependency& wait : operation_at(i).waits_for) {
            const int wait_step = step - (wait.previous_step ? 1 : 0);
            if (wait_step < 0) continue;
            const Slice& candidate = slice(wait_step, static_cast<std::size_t>(wait.operation));
            if (candidate.end <= to.lane_free || (from != nullptr && candidate.end <= from->end))
                continue;
            from = &candidate;
            lane = operation_at(static_cast<std::size_t>(wait.operation)).lane;
        }
        if (from == nullptr || lane == operation_at(i).lane) return;
        arrow_end("s", lane, std::max(from->start, from->end - kArrowLead));
        arrow_end("f", operation_at(i).lane, to.start);
        ++events_.arrows;
    }

    void arrow_end(const char* phase, Lane lane, double time) {
        Json event = {{"ph", phase},  {"pid", kProcess},      {"tid", threads_.of(lane)},
                      {"ts", time},   {"id", events_.arrows}, {"name", "waits for"},
                      {"cat", "wait"}};
        if (phase[0] == 'f') event["bp"] = "e";  // attaches the arrow to the event at that time
        events_.add(event);
    }

    const TimedPlan& report_;
    const Threads threads_;
    Events& events_;
    std::vector<Slice> slices_;  // over all steps, in the program's order
};

/// Reports of one plan, whose first compute operations start at the same time.
std::string trace_text(const std::vector<const TimedPlan*>& reports) {
    Events events;
    Seconds first = std::numeric_limits<Seconds>::infinity();
    std::vector<std::string> kinds;
    for (const TimedPlan* report : reports) {
        first = std::min(first, first_start(*report));
        kinds.emplace_back(how(*report));
    }
    const TimedPlan& front = *reports.front();
    const std::string process = fmt::format("sluice {} on {} ({})", front.asked.model_name,
                                            front.asked.machine_name, fmt::join(kinds, " and "));
    events.add(
        {{"ph", "M"}, {"pid", kProcess}, {"name", "process_name"}, {"args", {{"name", process}}}});
    const int count = static_cast<int>(reports.size());
    for (int i = 0; i < count; ++i)
        ReportTrace(*reports[static_cast<std::size_t>(i)], {i, count}, first, events).write();
    return fmt::format("{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{}\n]}}\n",
                       fmt::join(events.lines, ",\n"));
}

}  // namespace

std::string report_chrome_trace(const TimedPlan& report) { return trace_text({&report}); }

std::string overlay_chrome_trace(const TimedPlan& predicted, const TimedPlan& measured) {
    return trace_text({&predicted, &measured});
}

}  // namespace sluice

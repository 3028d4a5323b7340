// How long does ZeRO-Infinity's step take on storage, and how does its report show storage?
#include <algorithm>

#include "sim/answers/predict/predict.h"
#include "sim/report/report.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/infinity_case.h"

using namespace sluice;
using namespace sluice::test;

TEST_CASE("zero-infinity: a step is at least as long as storage needs for its bytes",
          "[simulate]") {
    const ModelSpec model = four_layers_of_7b();
    const MachineSpec machine = machine_with_storage();
    const Prediction report = predict(model, machine, infinity());
    const LaneTime& read = report.step.lanes[Work::storage_read];
    const LaneTime& write = report.step.lanes[Work::storage_write];
    CHECK(read.busy == Approx(read.bytes / 8e9));
    CHECK(write.busy == Approx(write.bytes / 4e9));
    CHECK(report.step.seconds >= std::max(read.busy, write.busy));
    MachineSpec slow_to_start = machine;
    slow_to_start.storage.latency = 1e-3;
    const Prediction late = predict(model, slow_to_start, infinity());
    const LaneTime& late_read = late.step.lanes[Work::storage_read];
    CHECK(late_read.busy - read.busy == Approx(1e-3 * static_cast<double>(read.operations)));
}

TEST_CASE("zero-infinity: the report says what is on storage, and that rates may be half",
          "[simulate]") {
    const ModelSpec model = four_layers_of_7b();
    const Prediction report =
        predict(model, machine_with_storage(), infinity(), {.band = Wanted::Band::always});
    CHECK(report.band->high > 1.3 * report.step.seconds);
    const std::string text = report_text(report);
    CHECK(text.find(", storage 36.4 GB of ") != std::string::npos);
    CHECK(text.find("  storage\n") != std::string::npos);
    for (const char* bytes : {" 4.0 GB\n", " 8.1 GB\n", " 24.3 GB\n"})
        CHECK(text.find(bytes) != std::string::npos);
    CHECK(report_json(report).find("\"storage\"") != std::string::npos);
}

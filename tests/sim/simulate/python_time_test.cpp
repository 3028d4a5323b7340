// Python's time in a step of the schedules whose operations it starts.
#include "sim/answers/predict/predict.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("zero3: with few tokens the step takes as long as its Python, and is not counted twice",
          "[simulate]") {
    const ModelSpec model = read_model("qwen2.5-1.5b");
    MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    TrainingSpec training;
    training.schedule = Schedule("zero3-offload");
    training.batch = 1;
    training.sequence = 128;
    const auto report_of = [&](double eager_launch) {
        machine.gpu.eager_launch = eager_launch;
        return predict(model, machine, training);
    };
    const auto busy = [](const Prediction& report, Lane lane) {
        return report.step.lanes[lane].busy;
    };
    const Prediction fast = report_of(10e-6), slow = report_of(20e-6);
    CHECK(busy(slow, Work::compute) == Approx(busy(fast, Work::compute)).epsilon(0.01));
    CHECK(busy(slow, Work::python) == Approx(2 * busy(fast, Work::python)));
    CHECK(slow.step.seconds - fast.step.seconds == Approx(busy(fast, Work::python)).epsilon(0.05));
}

TEST_CASE("FSDP offload: Python continues during copies, and is not counted twice", "[simulate]") {
    const ModelSpec model = read_model("qwen2.5-1.5b");
    MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    TrainingSpec training;
    training.schedule = Schedule("fsdp-offload");
    training.batch = 1;
    training.sequence = 128;
    machine.gpu.eager_launch = 50e-6;  // limits
    const Prediction report = predict(model, machine, training);
    const auto busy = [&](Lane lane) { return report.step.lanes[lane].busy; };
    CHECK(busy(Work::host_to_device) > 0.1 * busy(Work::python));
    CHECK(report.step.seconds < 1.05 * (busy(Work::python) + busy(Work::optimizer)));
}

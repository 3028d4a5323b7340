// How much does an operation demand of the machine alone? By hand.
#include "sim/simulate/operation_cost.h"

#include "sim/answers/predict/predict.h"
#include "sim/plan/plan_builder.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/simulate/hand_made.h"
#include "tests/sim/specs/machine/small_profile.h"

using namespace sluice;
using namespace sluice::test;

namespace {

FlowDemand demand_of(const HandMadePlan& made, const MachineSpec& machine,
                     const TrainingSpec& training = {}) {
    return operation_demands(made.plan.program, machine, training).front();
}

double adam_rate(const MachineSpec& machine, std::int64_t state_bytes, std::int64_t threads) {
    HandMadePlan made;
    made.adam(30e9);
    TrainingSpec training;
    training.state_bytes = state_bytes;
    training.optimizer_threads = threads;
    CHECK(demand_of(made, machine, training).bytes == 30e9);
    return demand_of(made, machine, training).rate;
}

double copy_in_rate(const MachineSpec& machine, double bytes) {
    HandMadePlan made;
    made.copy_in(bytes);
    return demand_of(made, machine).rate;
}

double copy_out_rate(const MachineSpec& machine, double bytes) {
    HandMadePlan made;
    made.copy_out(bytes);
    return demand_of(made, machine).rate;
}

}  // namespace

TEST_CASE("operation cost: smaller states have the rates by threads measured with them",
          "[simulate]") {
    // A parameter's traffic: gradient of 2 bytes read, states read and written: 26, 18 and 14 B.
    nlohmann::json profile = small_profile();
    nlohmann::json& host = profile["host"];
    host["adam_gparams_per_s_by_threads"] = measured_points({{1, 1}, {4, 3}});
    host["adam_8_byte_gparams_per_s_by_threads"] = measured_points({{1, 1.2}, {4, 4}});
    host["adam_6_byte_gparams_per_s_by_threads"] = measured_points({{1, 1.4}, {4, 5}});
    const MachineSpec machine = resolve(profile);
    CHECK(adam_rate(machine, 12, 4) == Approx(3e9 * 26));
    CHECK(adam_rate(machine, 8, 4) == Approx(4e9 * 18));
    CHECK(adam_rate(machine, 6, 4) == Approx(5e9 * 14));
    CHECK(adam_rate(machine, 8, 1) == Approx(1.2e9 * 18));
    CHECK(adam_rate(machine, 6, 1) == Approx(1.4e9 * 14));
    CHECK(adam_rate(machine, 8, 2) == Approx(2.6e9 * 18));  // half way in log(threads)
}

TEST_CASE("operation cost: each update has the fixed cost of a call", "[simulate]") {
    nlohmann::json profile = small_profile();
    nlohmann::json& host = profile["host"];
    host["adam_gparams_per_s_by_threads"] = measured_points({{1, 1}, {4, 3}});
    host["optimizer_call_us_by_threads"] = measured_points({{1, 100}, {4, 600}});
    const MachineSpec machine = resolve(profile);
    for (const auto& [threads, rate, call] : {std::tuple{1, 26e9, 100e-6}, {4, 78e9, 600e-6}}) {
        TrainingSpec training;
        training.optimizer_threads = threads;
        for (const double bytes : {26e6, 26e9}) {
            HandMadePlan made;
            made.adam(bytes);
            CHECK(demand_of(made, machine, training).alone() == Approx(call + bytes / rate));
        }
    }
}

TEST_CASE("operation cost: of fp32, fewer elements a second are clipped and scaled than of bf16",
          "[simulate]") {
    MachineSpec machine = round_machine();
    machine.host.norm_and_scale = 5e9;  // 2.5e9 elements a second
    machine.host.scale = 40e9;          // 20e9
    const auto seconds = [&](HostWork work) {
        HandMadePlan made;
        made.plan.program.operations.push_back(host_operation(work, 4 * 1e9));
        return demand_of(made, machine).alone();
    };
    CHECK(seconds(HostWork::norm_and_scale_fp32) == Approx(1 / (0.80 * 2.5)));
    CHECK(seconds(HostWork::scale_fp32) == Approx(1 / (0.74 * 20)));
}

TEST_CASE("operation cost: smaller states without a curve move memory as fast as fp32 ones",
          "[simulate]") {
    nlohmann::json profile = small_profile();
    profile["host"]["adam_gparams_per_s_by_threads"] = measured_points({{1, 1}, {4, 3}});
    profile["host"]["adam_6_byte_gparams_per_s_by_threads"] = measured_points({{4, 5}});
    const MachineSpec machine = resolve(profile);
    CHECK(adam_rate(machine, 8, 4) == Approx(3e9 * 26));
    CHECK(adam_rate(machine, 6, 4) == Approx(5e9 * 14));
}

TEST_CASE("operation cost: each direction's copies have the rate by size measured there",
          "[simulate]") {
    // To the device 50 GB/s, 20% of it at 1 MB; to the host 40 GB/s, 50% at 1 MB.
    nlohmann::json profile = small_profile();
    profile["link"]["host_to_device_gb_per_s"] = measured_number(50);
    profile["link"]["device_to_host_gb_per_s"] = measured_number(40);
    nlohmann::json& curve = profile["link"]["curve"];
    curve["host_to_device_gb_per_s_by_bytes"] = measured_points({{1e6, 10}, {1e8, 50}});
    CHECK(copy_out_rate(resolve(profile), 1e6) == Approx(8e9));  // as to the device: 20%
    curve["device_to_host_gb_per_s_by_bytes"] = measured_points({{1e6, 20}, {1e8, 40}});
    const MachineSpec machine = resolve(profile);
    CHECK(copy_in_rate(machine, 1e6) == Approx(10e9));
    CHECK(copy_in_rate(machine, 1e7) == Approx(30e9));
    CHECK(copy_in_rate(machine, 1e9) == Approx(50e9));
    CHECK(copy_out_rate(machine, 1e6) == Approx(20e9));
    CHECK(copy_out_rate(machine, 1e7) == Approx(30e9));
    CHECK(copy_out_rate(machine, 1e9) == Approx(40e9));
}

TEST_CASE("operation cost: kernels are no faster than the host issues them, and the GPU idles",
          "[simulate]") {
    MachineSpec machine = round_machine();
    machine.gpu.eager_launch = 5e-6;
    machine.gpu.clock.idle_w = 100;
    HandMadePlan made;
    made.compute(3e-3);
    Operation& operation = made.plan.program.operations.front();
    operation.eager_operations = 500;  // 2.5 ms
    CHECK(demand_of(made, machine).alone() == Approx(3e-3));
    const double joules = demand_of(made, machine).kernels.joules;
    operation.eager_operations = 1000;
    const FlowDemand waits = demand_of(made, machine);
    CHECK(waits.alone() == Approx(5e-3));
    CHECK(waits.kernels.at_limit == Approx(5e-3));
    CHECK(waits.kernels.joules == Approx(joules + 100 * 2e-3));
    operation.lane = Work::python;
    CHECK(demand_of(made, machine).alone() == Approx(5e-3));
}

TEST_CASE("operation cost: memory that is mapped meanwhile is copied to at its own rate",
          "[simulate]") {
    MachineSpec machine = round_machine();
    machine.link.pageable_device_to_host = 10e9;
    HandMadePlan made;
    made.copy_out(1e9);
    Operation& operation = made.plan.program.operations.front();
    operation.pageable = true;
    CHECK(demand_of(made, machine).rate == Approx(10e9));
    operation.to_fresh_pages = true;
    CHECK(demand_of(made, machine).rate == Approx(2e9));
}

TEST_CASE("prediction: what only PyTorch's schedules rest on is stated of those alone",
          "[simulate]") {
    MachineSpec machine = round_machine();
    machine.gpu.fused_attention.forward = machine.gpu.fused_attention.backward =
        machine.gpu.flash_attention.forward = machine.gpu.flash_attention.backward =
            Interpolated({{1024, 100e12}});
    machine.host.adam_8_byte_bytes_per_s = machine.host.adam_6_byte_bytes_per_s =
        machine.host.adam_bytes_per_s;
    machine.confidence = Confidence::measured;
    machine.assumptions = {"of all"};
    machine.others_assumptions = {"of PyTorch"};
    const ModelSpec model = read_model("llama-3.2-1b");
    TrainingSpec training;
    const Prediction streamed = predict(model, machine, training);
    CHECK(streamed.plan.confidence == Confidence::measured);
    CHECK(streamed.plan.assumptions == std::vector<std::string>{"of all"});
    training.schedule = Schedule("megatrain");
    const Prediction megatrain = predict(model, machine, training);
    CHECK(megatrain.plan.confidence == Confidence::transferred);
    CHECK(megatrain.plan.assumptions == std::vector<std::string>{"of all", "of PyTorch"});
    machine.confidence = Confidence::datasheet;
    CHECK(predict(model, machine, training).plan.confidence == Confidence::datasheet);
    machine.confidence = Confidence::measured;
    machine.others_assumptions.clear();
    CHECK(predict(model, machine, training).plan.confidence == Confidence::measured);
}

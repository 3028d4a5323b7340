// Are the steps at other rates of the host those of a machine with these rates?
#include "sim/answers/predict/other_rates.h"

#include "sim/answers/predict/predict.h"
#include "sim/report/report.h"
#include "sim/specs/machine/scaled_machine.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/scenario.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("other rates: each step is that of the scaled machine", "[simulate]") {
    const ModelSpec model = read_model(PlannedModel{.model = "qwen2.5-7b", .layers = "8"});
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-pcie5-16vcpu-128gib"));
    TrainingSpec training;
    training.batch = 8;
    const Prediction prediction = predict(model, machine, training, {.other_rates = true});
    REQUIRE(prediction.other_rates);
    const OtherRates& rates = *prediction.other_rates;
    CHECK(rates.profile.adam > 3e9);
    CHECK(rates.profile.adam < 8e9);
    CHECK(rates.profile.host_to_device == machine.link.host_to_device);
    REQUIRE(rates.steps.size() == 12);
    for (const StepAtRate& one : rates.steps) {
        CAPTURE(static_cast<int>(one.group), one.factor);
        MachineSpec scaled = machine;
        scale_group(scaled, one.group, one.factor);
        CHECK(one.step == Approx(predict(model, scaled, training).step.seconds));
    }
    // The optimizer limits this step.
    CHECK(rates.steps.front().group == RateGroup::optimizer);
    CHECK(rates.steps.front().step > 1.5 * prediction.step.seconds);
    CHECK_THAT(report_json(prediction), ContainsSubstring("\"adam_gparams_per_s\"") &&
                                            ContainsSubstring("\"step_at_other_rates\""));
    CHECK_THAT(report_json(predict(model, machine, training)),
               !ContainsSubstring("\"host_rates\""));
}

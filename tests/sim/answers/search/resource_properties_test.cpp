// More of any resource: no step that is slower by more than a thousandth, nothing that fits no
// more.
#include "sim/answers/predict/predict.h"
#include "sim/answers/search/search.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

struct FasterPart {
    const char* what;
    void (*apply)(MachineSpec&);
};

const FasterPart kFasterParts[] = {
    {"products", [](MachineSpec& m) { m.gpu.gemm_flops_per_s *= 1.3; }},
    {"device memory bandwidth", [](MachineSpec& m) { m.gpu.memory_bandwidth *= 1.3; }},
    {"device memory", [](MachineSpec& m) { m.gpu.memory_capacity += 20'000'000'000; }},
    {"link in", [](MachineSpec& m) { m.link.host_to_device *= 1.3; }},
    {"link out", [](MachineSpec& m) { m.link.device_to_host *= 1.3; }},
    {"link both ways", [](MachineSpec& m) { m.link.both_ways_total *= 1.3; }},
    {"host memory bandwidth", [](MachineSpec& m) { m.host.dram_bandwidth *= 1.3; }},
    {"host memory", [](MachineSpec& m) { m.host.memory_capacity += 100'000'000'000; }},
};

}  // namespace

TEST_CASE("properties: more of any resource is neither slower nor a smaller fit", "[search]") {
    for (const char* machine_name : {"h200-sxm-pcie5", "gh200-480gb", "a100-80gb-sxm"}) {
        const MachineSpec machine = resolve_machine(read_machine_profile(machine_name));
        for (const char* model_name : {"qwen2.5-7b", "llama-3.1-70b"}) {
            ModelSpec model = read_model(model_name);
            truncate_layers(model, 10);
            for (const std::int64_t batch : {2, 24, 160}) {
                TrainingSpec training;
                training.batch = batch;
                training.recompute = batch == 24 ? Recompute::none : Recompute::full;
                const SearchRow before = bound_scenario({&model, &machine, training, {}});
                const Seconds step = predict(model, machine, training).step.seconds;
                for (const FasterPart& upgrade : kFasterParts) {
                    INFO(machine_name << " " << model_name << " batch " << batch << ": more "
                                      << upgrade.what);
                    MachineSpec more = machine;
                    upgrade.apply(more);
                    const SearchRow after = bound_scenario({&model, &more, training, {}});
                    CHECK(after.device_short <= before.device_short);
                    CHECK(after.host_short <= before.host_short);
                    if (before.fits()) CHECK(after.fits());
                    CHECK(predict(model, more, training).step.seconds <= step * 1.001);
                }
            }
        }
    }
}

#include "sim/answers/search/sensitivity.h"

#include <algorithm>

#include "sim/answers/predict/predict.h"
#include "sim/base/input_error.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/to_svg.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/base/program_run.h"

using namespace sluice;
using namespace sluice::test;

namespace {

Sensitivity of(const std::string& model, const std::string& machine, std::int64_t batch,
               const std::string& gpu = "", Plans plans = Plans::given) {
    const MachineProfile profile = read_machine_profile(machine);
    TrainingSpec training;
    training.batch = batch;
    return sensitivity(read_model(model), profile, resolve_machine(profile), training, gpu, {},
                       plans);
}

const Upgrade& named(const Sensitivity& all, const std::string& start) {
    for (const Upgrade& upgrade : all.upgrades)
        if (upgrade.name.starts_with(start)) return upgrade;
    throw std::runtime_error("no upgrade " + start);
}

}  // namespace

TEST_CASE("sensitivity: no upgrade slows a step, the largest gain comes first", "[search]") {
    for (const char* machine : {"h200-pcie5-16vcpu-128gib", "gh200-480gb", "h100-sxm-pcie5-1tb"}) {
        const Sensitivity all = of("qwen2.5-7b", machine, 8);
        INFO(sensitivity_text(all));
        CHECK(all.upgrades.size() == 5);
        CHECK(std::is_sorted(all.upgrades.begin(), all.upgrades.end(),
                             [](const auto& a, const auto& b) { return a.gain > b.gain; }));
        for (const Upgrade& upgrade : all.upgrades) {
            CHECK(upgrade.gain >= -0.001);
            CHECK(upgrade.gain_low <= upgrade.gain);
            CHECK(upgrade.gain_high >= upgrade.gain);
        }
    }
}

TEST_CASE("sensitivity: more device memory never takes settings that are slower", "[search]") {
    const MachineProfile profile = read_machine_profile("b200-sxm");
    TrainingSpec training;
    training.batch = 64;
    training.micro_batch = 16;
    const Sensitivity all = sensitivity(read_model("qwen2.5-14b"), profile,
                                        resolve_machine(profile), training, "", {}, Plans::given);
    CHECK(named(all, "16 GB more device memory").gain >= 0);
}

TEST_CASE("sensitivity: what limits is what gains", "[search]") {
    // The optimizer limits at a small batch, the GPU at a large one.
    const Sensitivity small = of("qwen2.5-7b", "h200-pcie5-16vcpu-128gib", 8);
    CHECK(named(small, "host memory").gain > 0.1);
    CHECK(named(small, "the GPU of").gain < 0.07);  // its AdamW waits for the norm
    const Sensitivity large = of("qwen2.5-7b", "h200-pcie5-16vcpu-128gib", 64);
    CHECK(large.upgrades.front().name.starts_with("the GPU of b200-sxm"));
    CHECK(large.upgrades.front().gain > 0.3);
    // A GPU twice as fast makes the host the limit.
    const Sensitivity turned = of("qwen2.5-14b", "h200-sxm-pcie5-1tb", 32);
    CHECK(turned.base.step.bottleneck() == Work::compute);
    CHECK(turned.upgrades.front().report.step.bottleneck() == Work::optimizer);
    CHECK_THAT(sensitivity_text(large), !ContainsSubstring("gpu_compute"));
}

TEST_CASE("sensitivity: with the fastest plans only the GPU gains at a small batch", "[search]") {
    const Sensitivity small = of("qwen2.5-7b", "h200-pcie5-16vcpu-128gib", 8, "", Plans::chosen);
    CHECK(small.base.asked.training.resident_layers >= 26);
    CHECK(small.upgrades.front().name.starts_with("the GPU of"));
    CHECK(small.upgrades.front().gain > 0.5);
    CHECK(named(small, "host memory").gain < 0.01);
}

TEST_CASE("sensitivity: device memory is spent on layers that keep everything", "[search]") {
    const Sensitivity all = of("qwen2.5-14b", "h200-sxm-pcie5-1tb", 64);
    const Upgrade& memory = named(all, "16 GB more device memory");
    INFO(sensitivity_text(all));
    CHECK(memory.gain > 0);
    CHECK_THAT(setting_flags(memory.settings), ContainsSubstring("--keep-last-layers"));
}

TEST_CASE("sensitivity: one memory has no link, and another GPU can be named", "[search]") {
    const Sensitivity one = of("llama-3.2-1b", "dgx-spark-gb10", 8);
    CHECK(one.upgrades.size() == 2);
    CHECK(one.not_possible.size() == 3);  // nor more memory: it is soldered
    CHECK_THAT(sensitivity_text(one),
               ContainsSubstring("not tried: 16 GB more memory: host memory of 144.0 GB is more "
                                 "than the 128.0 GB"));
    CHECK(of("llama-3.2-1b", "dgx-spark-gb10-96gb", 8).upgrades.size() == 3);
    CHECK_THAT(sensitivity_text(of("llama-3.2-1b", "dgx-spark-gb10-1tb", 8)),
               ContainsSubstring("note: host memory of 1.00 TB is more than"));
    const Sensitivity other = of("llama-3.2-1b", "rtx-3090-64gb", 8, "h100-pcie");
    CHECK(named(other, "the GPU of h100-pcie").gain > 0);
}

TEST_CASE("sensitivity: settings of the machine make the same change, or there are none",
          "[search]") {
    for (const char* machine : {"h200-pcie5-16vcpu-128gib", "gh200-480gb", "dgx-spark-gb10"}) {
        const Sensitivity all = of("llama-3.2-1b", machine, 8);
        for (const Upgrade& upgrade : all.upgrades) {
            if (upgrade.machine_settings.empty()) continue;
            MachineProfile profile = read_machine_profile(machine);
            for (const Setting& setting : upgrade.machine_settings)
                profile.set(setting.field, std::stod(setting.value));
            const Prediction adopted = predict(read_model("llama-3.2-1b"), resolve_machine(profile),
                                               upgrade.report.asked.training);
            INFO(machine << ": " << upgrade.name);
            CHECK(adopted.step.seconds == Approx(upgrade.report.step.seconds).epsilon(0.001));
            CHECK(adopted.plan.fit.device().usable == upgrade.report.plan.fit.device().usable);
            CHECK(adopted.plan.fit.host().usable == upgrade.report.plan.fit.host().usable);
        }
    }
    const Sensitivity h200 = of("qwen2.5-7b", "h200-pcie5-16vcpu-128gib", 8);
    CHECK(!named(h200, "16 GB more device memory").machine_settings.empty());
    // Measured shares of host memory change with the link, and no number of a profile says so.
    CHECK(named(h200, "link twice").machine_settings.empty());
    CHECK(!named(of("llama-3.2-1b", "rtx-3090-64gb", 8), "link twice").machine_settings.empty());
    CHECK(named(h200, "the GPU of").machine_settings.empty());
    // Host memory follows from the link there.
    CHECK(named(of("qwen2.5-7b", "gh200-480gb", 8), "link twice").machine_settings.empty());
}

TEST_CASE("sensitivity: the picture has a bar an upgrade", "[search]") {
    const Sensitivity all = of("qwen2.5-7b", "h200-pcie5-16vcpu-128gib", 8);
    const std::string svg = to_svg(bars_picture(upgrade_bars(all)));
    for (const Upgrade& upgrade : all.upgrades)
        CHECK_THAT(svg, ContainsSubstring(">" + upgrade.name + "</text>"));
}

TEST_CASE("sensitivity: mistakes are one sentence", "[search]") {
    check_sluice_mistake("sensitivity --model llama-3.2-1b --machine gh200-480gb --next-gpu gb20",
                         {"--next-gpu: unknown machine \"gb20\""});
}

TEST_CASE("sensitivity: what does not fit is a result, with what would fit", "[search]") {
    const Result result =
        run_sluice("sensitivity --model llama-3.1-70b --machine h200-sxm-pcie5-512gb");
    CHECK(result.status == 0);
    CHECK_THAT(result.output,
               ContainsSubstring("llama-3.1-70b on h200-sxm-pcie5-512gb does not fit") &&
                   ContainsSubstring("host needs") && ContainsSubstring("fits with "));
}

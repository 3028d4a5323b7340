#include "sim/answers/search/find.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/answers/predict/predict.h"
#include "sim/answers/search/upgrades.h"
#include "sim/base/input_error.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/scaled_machine.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/base/program_run.h"

using namespace sluice;
using namespace sluice::test;

namespace {

MachineSpec known_machine(const std::string& name) {
    return resolve_machine(read_machine_profile(name));
}

FindAnswer answer(Sought sought, const std::string& model, const std::string& machine,
                  TrainingSpec training = {}, double tokens_per_s = 0, bool adjust = false) {
    return find_limit(sought == Sought::model ? ModelSpec{} : read_model(model),
                      known_machine(machine), training, {sought, tokens_per_s, adjust});
}

void check_sides(const FindAnswer& a) {
    INFO(find_text(a));
    REQUIRE(a.best);
    REQUIRE(a.other);
    const double wanted = a.query.tokens_per_s;
    CHECK(a.best->fits());
    CHECK(a.best->report.tokens_per_s() >= wanted);
    CHECK((!a.other->fits() || a.other->report.tokens_per_s() < wanted));
    CHECK(a.best->report.band);
}

}  // namespace

TEST_CASE("fit: the largest batch fits and one more sequence does not", "[search]") {
    TrainingSpec training;
    training.sequence = 2048;
    const FindAnswer a = answer(Sought::batch, "qwen2.5-7b", "h200-sxm-pcie5-1tb", training);
    check_sides(a);
    CHECK(a.other->value == a.best->value + 1);
    training.micro_batch = 8;
    const FindAnswer b = answer(Sought::batch, "qwen2.5-7b", "h200-sxm-pcie5-1tb", training);
    check_sides(b);
    CHECK(b.other->value == b.best->value + 8);
}

TEST_CASE("fit: where the settings alone are in the way, others that fit are named", "[search]") {
    TrainingSpec training;
    training.batch = 32;
    training.sequence = 4096;
    const FindAnswer none = answer(Sought::host_memory, "qwen2.5-32b", "h100-pcie", training);
    REQUIRE(!none.best);
    CHECK(none.note == "with --checkpoints host it fits; --adjust tries such settings");
    const FindAnswer some =
        answer(Sought::host_memory, "qwen2.5-32b", "h100-pcie", training, 0, true);
    REQUIRE(some.best);
    CHECK(some.note.empty());
    training.checkpoints = CheckpointPlacement::host;
    CHECK(answer(Sought::host_memory, "qwen2.5-32b", "h100-pcie", training).note.empty());
}

TEST_CASE("fit: sequence, layers and model, with a prediction on both sides", "[search]") {
    TrainingSpec one;
    one.batch = 1;
    const FindAnswer sequence = answer(Sought::sequence, "qwen2.5-7b", "gh200-480gb", one, 0, true);
    CHECK(sequence.best->value > 512 * 1024);
    CHECK(sequence.best->fits());
    CHECK(!sequence.best->changes.empty());
    const FindAnswer layers = answer(Sought::layers, "llama-3.1-8b", "h200-sxm-pcie5-512gb");
    check_sides(layers);
    CHECK(layers.other->value == layers.best->value + 1);
    check_sides(answer(Sought::model, "", "h200-sxm-pcie5-512gb"));
}

TEST_CASE("fit: the largest model is one that a program trains there today", "[search]") {
    TrainingSpec training;
    const FindAnswer today = answer(Sought::model, "", "h200-sxm-pcie5", training);
    check_sides(today);
    CHECK(today.best->report.asked.runs_today.runs());
    CHECK_THAT(today.note, ContainsSubstring("deepseek-v3"));
    FindQuery query{Sought::model};
    query.planned_too = true;
    const FindAnswer planned = find_limit({}, known_machine("h200-sxm-pcie5"), training, query);
    CHECK(planned.best->value >= today.best->value);
    CHECK(planned.note.empty());
    CHECK_THROWS_WITH(answer(Sought::model, "", "mi355x", training),
                      ContainsSubstring("no program trains with streamed on mi355x today"));
}

TEST_CASE("fit: the least of a resource, to a hundredth", "[search]") {
    const char* const machine = "h200-pcie5-16vcpu-128gib";
    for (const Sought sought : {Sought::host_memory, Sought::device_memory}) {
        const FindAnswer a = answer(sought, "qwen2.5-7b", machine);
        check_sides(a);
        CHECK(a.best->value / a.other->value <= 1 + kFindTolerance);
    }
    const double now = predict(read_model("qwen2.5-7b"), known_machine(machine), {}).tokens_per_s();
    const FindAnswer link = answer(Sought::link, "qwen2.5-7b", machine, {}, 0.8 * now);
    check_sides(link);
    CHECK(link.best->value < 1);
    CHECK(link.speed_within_band());
    const FindAnswer cores = answer(Sought::cores, "qwen2.5-7b", machine, {}, 1.1 * now);
    check_sides(cores);
    CHECK(cores.best->value > 16);
    CHECK(cores.other->value == cores.best->value - 1);
}

TEST_CASE("fit: a speed that nothing reaches", "[search]") {
    const FindAnswer a = answer(Sought::link, "qwen2.5-7b", "h200-sxm-pcie5-1tb", {}, 1e6);
    CHECK(!a.best);
    CHECK_THAT(find_text(a), ContainsSubstring(": none") && ContainsSubstring("wanted 1,000,000"));
}

TEST_CASE("fit: more of a resource never fits less", "[search]") {
    for (const char* model : {"qwen2.5-7b", "llama-3.1-8b", "qwen3-30b-a3b"}) {
        double before = 0;
        for (const char* machine : {"h200-sxm-pcie5-200gb", "h200-sxm-pcie5-400gb",
                                    "h200-sxm-pcie5-800gb", "h200-sxm-pcie5-1.6tb"}) {
            INFO(model << " on " << machine);
            const double now = answer(Sought::layers, model, machine).best->value;
            CHECK(now >= before);
            before = now;
        }
    }
    double before = 0;
    for (const double gb : {24, 48, 80, 141, 192}) {
        MachineSpec machine = known_machine("h200-sxm-pcie5-1tb");
        machine.gpu.memory_capacity = static_cast<Bytes>(gb * kGiga);
        const FindAnswer a = find_limit(read_model("qwen2.5-7b"), machine, {}, {Sought::batch, 0});
        INFO(gb << " GB");
        CHECK(a.best->value > before);
        before = a.best->value;
    }
}

TEST_CASE("fit: more of a resource never predicts a slower step", "[search]") {
    const std::pair<const char*, const char*> scenarios[] = {
        {"qwen2.5-7b", "h200-pcie5-16vcpu-128gib"},
        {"qwen2.5-14b", "h200-sxm-pcie5-1tb"},
        {"llama-3.1-8b", "gh200-480gb"},
        {"llama-3.2-3b", "rtx-4090"},
        {"qwen3-30b-a3b", "h200-sxm-pcie5-1tb"},
        {"llama-3.2-1b", "mi300x"},
    };
    for (const auto& scenario : scenarios) {
        const auto& model_name = scenario.first;
        const auto& machine_name = scenario.second;
        const ModelSpec model = read_model(model_name);
        const MachineSpec machine = *resolvable_machine(machine_name);
        for (const std::int64_t batch : {2, 16}) {
            TrainingSpec training;
            training.batch = batch;
            const Seconds before = predict(model, machine, training).step.seconds;
            const auto check = [&](const char* what, const MachineSpec& more) {
                INFO(model_name << " on " << machine_name << ", batch " << batch << ": " << what);
                CHECK(predict(model, more, training).step.seconds <= before * 1.001);
            };
            check("link", with_faster(machine, part::link, 2));
            check("cores", with_cores(machine, machine.host.cores + 8));
            check("host bandwidth", with_faster(machine, part::host_memory, 1.25));
            check("device memory",
                  with_device_memory(machine, machine.gpu.memory_capacity + Bytes{16'000'000'000}));
        }
    }
}

TEST_CASE("changed machine: cores by hand", "[search]") {
    MachineSpec machine;
    machine.host.cores = 8;
    machine.host.dram_bandwidth = 100e9;
    machine.host.adam_bytes_per_s = Interpolated({{1, 20e9}, {4, 50e9}, {8, 70e9}});
    // The last four threads added 5 GB/s each.
    CHECK(with_cores(machine, 10).host.adam_bytes_per_s.at(10) == Approx(80e9));
    CHECK(with_cores(machine, 40).host.adam_bytes_per_s.at(40) == Approx(100e9));
    CHECK(with_cores(machine, 4).host.adam_bytes_per_s.at(8) == Approx(50e9));
    // Twice the memory: at most 20 GB/s a thread.
    const MachineSpec faster = with_faster(machine, part::host_memory, 2);
    CHECK(faster.host.adam_bytes_per_s.at(1) == Approx(20e9));
    CHECK(faster.host.adam_bytes_per_s.at(4) == Approx(80e9));
    CHECK(faster.host.adam_bytes_per_s.at(8) == Approx(140e9));
    CHECK(faster.host.dram_bandwidth == Approx(200e9));
}

TEST_CASE("changed machine: a faster link and what it shares leave host work as it is",
          "[search]") {
    MachineSpec machine;
    machine.link.host_to_device = 50e9;
    machine.link.pageable_host_to_device = 10e9;
    machine.host.dram_bandwidth = 200e9;
    machine.host.memory_copy = 60e9;
    machine.host.adam_bytes_per_s = Interpolated({{1, 20e9}, {8, 100e9}});
    const MachineSpec faster = with_faster(machine, part::to_device | part::shared_memory, 4);
    CHECK(faster.link.host_to_device == Approx(200e9));
    CHECK(faster.host.dram_bandwidth == Approx(800e9));
    CHECK(faster.host.memory_copy == 60e9);
    CHECK(faster.host.adam_bytes_per_s.at(8) == 100e9);
    // The link takes 20 of 100 ps a byte, then 5.
    CHECK(faster.link.pageable_host_to_device == Approx(1 / 85e-12));
    CHECK(with_faster(machine, part::host_memory, 4).host.memory_copy == Approx(240e9));
}

TEST_CASE("changed machine: the GPU that comes next", "[search]") {
    const auto next = [](const char* name) {
        const MachineProfile profile = read_machine_profile(name);
        const auto machine = next_gpu(*resolvable_machine(name), profile);
        return machine ? machine->id : "none";
    };
    CHECK(next("h200-sxm-pcie5") == "b200-sxm");
    CHECK(next("rtx-3090") == "rtx-4090");
    CHECK(next("mi300x") == "mi325x");
    CHECK(next("mi355x") == "none");
}

TEST_CASE("fit: mistakes are one sentence", "[search]") {
    check_sluice_mistake("fit --find bach --model qwen2.5-7b --machine gh200-480gb",
                         {"--find is \"bach\"", "did you mean \"batch\"?"});
    check_sluice_mistake("fit --find link --model qwen2.5-7b --machine gh200-480gb",
                         {"--find link needs a speed", "--tokens-per-s"});
    check_sluice_mistake("fit --find seq --machine gh200-480gb", {"--model is required"});
    check_sluice_mistake("fit --find seq --model qwen2.5-7b", {"--machine is required"});
    check_sluice_mistake("fit --find hbm --model qwen2.5-7b --machine dgx-spark-gb10",
                         {"one memory", "host-memory"});
    check_sluice_mistake("fit --find batch --adjust --model qwen2.5-7b --machine gh200-480gb",
                         {"--adjust does not go with --find batch"});
    check_sluice_mistake("fit --find machine --model qwen2.5-7b --machine gh200-480gb",
                         {"leave --machine out"});
}

TEST_CASE("fit: the longest sequence of a model is no longer than its positions", "[search]") {
    TrainingSpec training;
    const FindAnswer gpt2 = answer(Sought::sequence, "gpt2", "h200-sxm-pcie5-1tb", training);
    REQUIRE(gpt2.best);
    CHECK(gpt2.best->value == 1024);
    CHECK_THAT(gpt2.note, ContainsSubstring("1,024 positions"));
    ModelSpec odd = read_model("gpt2");
    odd.learned_positions = 1000;
    const FindAnswer shorter = find_limit(odd, known_machine("h200-sxm-pcie5-1tb"), training,
                                          {Sought::sequence, 0, false});
    REQUIRE(shorter.best);
    CHECK(shorter.best->value == 1000);
    // Memory holds it back before its positions do.
    const FindAnswer full =
        answer(Sought::sequence, "gpt2", "rtx-4090-64gb", TrainingSpec{.batch = 4096});
    REQUIRE(full.best);
    REQUIRE(full.other);
    CHECK(full.other->value == full.best->value + 1);
    CHECK(full.note.empty());
}

TEST_CASE("fit: memory is sought no further than such a machine can have it", "[search]") {
    const FindAnswer spark = answer(Sought::host_memory, "qwen2.5-14b", "dgx-spark-gb10", {});
    CHECK(!spark.best);
    REQUIRE(spark.other);
    CHECK(spark.other->value == Approx(128));
    CHECK_THAT(spark.note, ContainsSubstring("128.0 GB is the most"));
    CHECK_THAT(find_text(spark), ContainsSubstring("128.0 GB is the most"));
    CHECK(answer(Sought::host_memory, "qwen2.5-7b", "dgx-spark-gb10", {}).best);
    const FindAnswer layers = answer(Sought::layers, "qwen2.5-14b", "dgx-spark-gb10-1tb", {});
    CHECK_THAT(layers.note, ContainsSubstring("more than the 128.0 GB"));
}

TEST_CASE("fit: what is sought and given at once is refused", "[search]") {
    const std::string fit = "fit --model qwen2.5-0.5b --machine h200-sxm-pcie5 ";
    check_sluice_mistake(fit + "--find layers --layers 4", {"--find layers", "--layers"});
    check_sluice_mistake(fit + "--find batch --batch 8", {"--find batch", "--batch"});
    check_sluice_mistake(fit + "--find seq --seq 8", {"--find seq", "--seq"});
    check_sluice_mistake(fit + "--find host-memory --host-memory 1TB",
                         {"--find host-memory", "--host-memory"});
    check_sluice_mistake(fit + "--find model", {"--find model", "--model", "leave it out"});
}

TEST_CASE("fit: values that settings do not allow are passed over", "[search]") {
    TrainingSpec training;
    training.resident_layers = 20;
    const FindAnswer layers =
        answer(Sought::layers, "qwen2.5-7b", "h200-sxm-pcie5-512gb", training);
    check_sides(layers);
    CHECK(layers.best->value >= 20);
    CHECK(layers.other->value == layers.best->value + 1);
    training = {};
    training.compute = Compute::fp8;
    training.batch = 1;
    const FindAnswer sequence =
        answer(Sought::sequence, "qwen2.5-7b", "h200-sxm-pcie5-512gb", training);
    check_sides(sequence);
    CHECK(std::fmod(sequence.best->value, 16) == 0);
    CHECK(sequence.other->value == sequence.best->value + 16);
    training = {};
    training.passes = 4;
    const FindAnswer batch = answer(Sought::batch, "qwen2.5-7b", "h200-sxm-pcie5-512gb", training);
    check_sides(batch);
    CHECK(batch.other->value == batch.best->value + 4);
    training = {};
    training.optimizer_threads = 8;
    const FindAnswer cores =
        answer(Sought::cores, "qwen2.5-7b", "h200-sxm-pcie5-512gb", training, 100);
    REQUIRE(cores.best);
    CHECK(cores.best->value == 8);
    CHECK(!cores.other);
    CHECK_THAT(cores.note, ContainsSubstring("7 cores is refused: --optimizer-threads is 8"));
    training = {};
    training.resident_layers = 9000;
    CHECK_THROWS_WITH(answer(Sought::layers, "qwen2.5-7b", "h200-sxm-pcie5-512gb", training),
                      ContainsSubstring("--resident-layers is 9000"));
}

TEST_CASE("fit: it says that options keep their defaults", "[search]") {
    const FindAnswer a = answer(Sought::batch, "qwen2.5-7b", "h200-sxm-pcie5-512gb");
    CHECK_THAT(find_text(a), ContainsSubstring("settings     those given and the defaults"));
    CHECK(nlohmann::json::parse(find_json(a))["plan"] == "given");
}

#include "engine/train/run_setup.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <filesystem>

#include "engine/train/chosen_plan.h"
#include "engine/train/state_snapshot.h"
#include "sim/base/input_error.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

namespace {

TrainSettings settings_that_save() {
    TrainSettings settings;
    settings.out = "out";
    settings.steps = 100;
    settings.save_every = 10;
    return settings;
}

struct Room {
    Fit fit;
    HostFacts host;
};
/// The memory that is free beside the plan.
Room room_of(Bytes free) {
    Room room;
    room.fit.host().peak.bytes = 5 * kMiB;
    room.fit.host().usable = 5 * kMiB + free;
    return room;
}

Bytes save_memory(const TrainSettings& settings, const Room& room) {
    const ModelSpec model =
        parse_generic_model("layers=2,hidden=64,heads=2,intermediate=128,vocabulary=500");
    return choose_save_memory(settings, room.fit, room.host, model, TrainingSpec{});
}

}  // namespace

TEST_CASE("run setup: a GPU without FP8 is refused in one sentence, a CPU emulates it", "[train]") {
    TrainingSpec training;
    DeviceFacts a100;
    a100.name = "NVIDIA A100-SXM4-80GB";
    a100.is_gpu = true;
    CHECK_NOTHROW(check_fp8(training, a100));
    training.head_gradients = Compute::fp8;
    CHECK_THROWS_WITH(check_fp8(training, a100),
                      "--head-gradients is fp8, but NVIDIA A100-SXM4-80GB has no FP8 products, "
                      "which NVIDIA's GPUs have from compute capability 8.9 on; leave "
                      "--head-gradients out");
    training.compute = Compute::fp8;
    CHECK_THROWS_AS(check_fp8(training, a100), InputError);
    CHECK_NOTHROW(check_fp8(training, DeviceFacts{}));
    DeviceFacts h200 = a100;
    h200.has_fp8 = true;
    CHECK_NOTHROW(check_fp8(training, h200));
}

TEST_CASE("run setup: attention within documents needs a GPU that has it, or a CPU", "[train]") {
    ModelSpec model = read_model("qwen2.5-0.5b");
    TrainingSpec training;
    DeviceFacts ada;
    ada.name = "NVIDIA L40S";
    ada.is_gpu = true;
    CHECK_NOTHROW(check_documents(model, training, ada));
    training.attend_within = AttendWithin::document;
    CHECK_THROWS_WITH(check_documents(model, training, ada),
                      ContainsSubstring("--attend-within is document, but NVIDIA L40S cannot"));
    CHECK_NOTHROW(check_documents(model, training, DeviceFacts{}));
    ada.has_document_attention = true;
    CHECK_NOTHROW(check_documents(model, training, ada));
    model.kinds.front().attention.head_dim = 72;
    CHECK_THROWS_WITH(check_documents(model, training, ada), ContainsSubstring("head_dim is 72"));
}

TEST_CASE("run setup: experts need a GPU that has their products, or a CPU", "[train]") {
    const ModelSpec model = read_model("qwen3-30b-a3b");
    DeviceFacts gpu;
    CHECK_NOTHROW(check_experts(model, gpu));
    gpu.name = "NVIDIA A100", gpu.is_gpu = true;
    CHECK_NOTHROW(check_experts(read_model("qwen3-0.6b"), gpu));
    CHECK_THROWS_WITH(check_experts(model, gpu),
                      ContainsSubstring("qwen3-30b-a3b has experts, but NVIDIA A100 has no"));
    gpu.has_expert_products = true;
    CHECK_NOTHROW(check_experts(model, gpu));
}

TEST_CASE("run setup: text is refused for a model with a tokenizer", "[train]") {
    const TempFolder temp;
    const std::string text = temp.write("text.txt", "a text of some bytes");
    const std::string shard = temp.write_numbers("ids.bin", std::vector<std::uint16_t>{1, 2, 3});
    TrainSettings settings;
    settings.model = temp.path();
    settings.model_files = "qwen2.5-0.5b";
    const auto refusal = [&](const std::string& data) {
        return input_error_of([&] { refuse_bytes(open_tokens({data}, 300), settings); });
    };
    CHECK(refusal(text).empty());  // a model without weights and tokenizer
    const std::string tokenizer = temp.write("tokenizer.json", "{}");
    CHECK(refusal(text) == text +
                               ": is text, whose bytes would be the tokens, but the model has a "
                               "tokenizer, " +
                               tokenizer + "; turn the text into tokens with ./dev data");
    CHECK(refusal(shard).empty());
    settings.model = "qwen2.5-0.5b";
    CHECK(refusal(text).empty());
    settings.model_files = temp.write("model.safetensors", "weights");  // --load
    CHECK_FALSE(refusal(text).empty());
}

TEST_CASE("run setup: weights are ignored, or trained and lost, only if a flag says so",
          "[train]") {
    const TempFolder temp;
    TrainSettings settings;
    settings.model = temp.path();
    CHECK_NOTHROW(check_what_is_kept(settings, false));  // a folder without weights
    const std::string weights = temp.write("model.safetensors", "weights");
    CHECK(input_error_of([&] { check_what_is_kept(settings, false); }) ==
          fmt::format("--model {0}: holds weights, {1}, which are not read without --load; give "
                      "--load {0} to start from them, or --random-weights",
                      temp.path(), weights));
    CHECK_NOTHROW(check_what_is_kept(settings, true));  // those of a checkpoint
    settings.random_weights = true;
    CHECK_NOTHROW(check_what_is_kept(settings, false));
    settings.random_weights = false;
    settings.load = temp.path();
    CHECK_THAT(input_error_of([&] { check_what_is_kept(settings, false); }),
               ContainsSubstring("is given without --out, so that what is learned would be lost"));
    settings.discard = true;
    CHECK_NOTHROW(check_what_is_kept(settings, false));
    settings.discard = false;
    settings.out = "out";
    CHECK_NOTHROW(check_what_is_kept(settings, false));
}

TEST_CASE("run setup: the same file is not trained on and held out", "[train]") {
    const TempFolder temp;
    TrainSettings settings;
    const std::vector<std::uint16_t> ids(100, 1);
    settings.data = {temp.write_numbers("a.bin", ids), temp.write_numbers("b.bin", ids)};
    settings.validation = {{"", {temp.write_numbers("c.bin", ids)}}};
    TrainingSpec training;
    training.batch = 2;
    training.sequence = 10;
    const ModelSpec model =
        parse_generic_model("layers=1,hidden=64,heads=2,intermediate=128,vocabulary=500");
    CHECK(check_inputs(model, training, settings, false) == 18);
    std::filesystem::create_symlink(settings.data[1], temp.path("d.bin"));
    settings.validation.push_back({"other", {temp.path("d.bin")}});
    CHECK_THAT(input_error_of([&] { check_inputs(model, training, settings, false); }),
               ContainsSubstring(temp.path("d.bin") + ": is trained on, too"));
}

TEST_CASE("save memory: as much as is needed, or half of what is left", "[train]") {
    const TrainSettings settings = settings_that_save();
    const Bytes needed = save_memory(settings, room_of(1000 * kMiB));
    CHECK(needed > 100'000 * 12);
    CHECK(needed < 100 * kMiB);
    CHECK(save_memory(settings, room_of(1 * kMiB)) == kMiB / 2);
    CHECK(save_memory(settings, room_of(-1 * kMiB)) == 0);
    Room shared = room_of(1000 * kMiB);
    shared.host.memory_available = 9 * kMiB;
    CHECK(save_memory(settings, shared) == 2 * kMiB);
    shared.host.commit_left = 7 * kMiB;
    CHECK(save_memory(settings, shared) == kMiB);
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
    rlimit limited = before;
    limited.rlim_cur = rlim_t{1} << 46;
    REQUIRE(setrlimit(RLIMIT_AS, &limited) == 0);
    CHECK(save_memory(settings, room_of(1000 * kMiB)) == 0);
    REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
}

TEST_CASE("save memory: what is asked for, unless no step comes after a checkpoint", "[train]") {
    TrainSettings settings = settings_that_save();
    settings.save_memory = 2 * kMiB;
    CHECK(save_memory(settings, room_of(0)) == 2 * kMiB);
    settings.save_memory = 0;
    CHECK(save_memory(settings, room_of(1000 * kMiB)) == 0);
    settings.save_memory = std::nullopt;
    settings.save_every = 100;
    CHECK(save_memory(settings, room_of(1000 * kMiB)) == 0);
    settings.save_best = true;
    settings.validate_every = 50;
    CHECK(save_memory(settings, room_of(1000 * kMiB)) > 0);
    settings.out = std::nullopt;
    CHECK(save_memory(settings, room_of(1000 * kMiB)) == 0);
}

TEST_CASE("save memory: the plan counts it and is refused for it", "[train]") {
    PlannedStep plan;
    plan.fit.host() = {Tier::host, {}, 10};
    plan.fit.host().peak.bytes = 7;
    TrainingSpec training;
    CHECK(with_save_memory(plan, training, 3).fit.fits());
    const auto pinned = [](const PlannedStep& of) {
        return of.fit.host().peak.by_kind[static_cast<std::size_t>(MemoryKind::pinned_buffers)];
    };
    CHECK(pinned(with_save_memory(plan, training, 4)) == 0);
    training.resident_layers = 1;  // copies from the device need locked pages
    const PlannedStep full = with_save_memory(plan, training, 4);
    CHECK(full.fit.host().shortfall() == 1);
    CHECK(pinned(full) == 4);
    CHECK_THROWS_AS(refuse_misfit(full, ""), InputError);
}

TEST_CASE("run setup: a plan that does not fit is refused with each memory that is short",
          "[train]") {
    PlannedStep plan;
    for (const Tier tier : {Tier::host, Tier::storage}) {
        plan.fit.of(tier).usable = 1'000'000'000;
        plan.fit.of(tier).peak.bytes = 3'000'000'000;
    }
    CHECK_THROWS_WITH(refuse_misfit(plan, ""),
                      ContainsSubstring("does not fit: the host needs 3.0 GB, has 1.0 GB") &&
                          ContainsSubstring("; the storage needs 3.0 GB, has 1.0 GB"));
    plan.unified_memory = true;
    CHECK_THROWS_WITH(
        refuse_misfit(plan, ""),
        ContainsSubstring("host memory, the CPU's device memory included, needs 3.0 GB"));
}

namespace {

PlannedScenario seven_b() {
    PlannedScenario asked;
    asked.model.model = "qwen2.5-7b";
    asked.training["batch"] = "8";
    return asked;
}

}  // namespace

TEST_CASE("chosen plan: without --machine it is for the machine with this GPU", "[train]") {
    const MachineChoice measured = machine_for("NVIDIA H200", 16);
    CHECK(measured.machine == "h200-pcie5-16vcpu-128gib-2");
    CHECK(measured.because == "it has the GPU NVIDIA H200 and 16 CPUs, as this one");
    const MachineChoice large = machine_for("NVIDIA H200", 192);
    CHECK(large.machine == "h200-sxm-pcie5");
    CHECK_THAT(large.because, ContainsSubstring("112 CPUs where this one has 192") &&
                                  ContainsSubstring("sluice-calibrate"));
    const MachineChoice none = machine_for("NVIDIA GeForce GTX 480", 8);
    CHECK_FALSE(none.machine);
    CHECK_THAT(none.because,
               ContainsSubstring("NVIDIA GeForce GTX 480") && ContainsSubstring("--machine"));
}

TEST_CASE("chosen plan: on a GPU that is known the planner chooses", "[train]") {
    const PlannedScenario asked = seven_b();
    const auto chosen = [&](const char* name, bool is_gpu) {
        return choose_step_here(asked, SettingsOf::planner, {.name = name, .is_gpu = is_gpu},
                                "128GiB");
    };
    CHECK_FALSE(chosen("NVIDIA H200", false));
    CHECK_FALSE(chosen("NVIDIA GeForce GTX 480", true));
    const std::optional<ExpectedStep> here = chosen("NVIDIA H200", true);
    REQUIRE(here.has_value() == built_with_planner());
    if (!here) return;
    CHECK(here->training.at("batch") == "8");
    CHECK(std::stoi(here->training.at("resident_layers")) > 0);
    CHECK(here->step > 0);
}

TEST_CASE("chosen plan: a build without the planner names the command that writes one", "[train]") {
    if (built_with_planner()) return;
    PlannedScenario asked = seven_b();
    asked.machine.machine = "h200-sxm-pcie5";
    CHECK_THROWS_WITH(choose_step(asked, SettingsOf::planner, "1TB"),
                      ContainsSubstring("sluice predict --model qwen2.5-7b") &&
                          ContainsSubstring("--plan plan.json"));
}

TEST_CASE("chosen plan: as given, its step is predicted alone", "[train]") {
    if (!built_with_planner()) return;
    PlannedScenario asked = seven_b();
    asked.machine.machine = "h200-sxm-pcie5";
    asked.training["resident_layers"] = "3";
    const ExpectedStep given = choose_step(asked, SettingsOf::schedule, "1TB");
    CHECK(given.training.at("resident_layers") == "3");
    CHECK(given.parameters == total_parameters(read_model(asked.model)));
    REQUIRE(given.rates);
    CHECK(step_at(*given.rates, given.rates->profile) == Approx(given.step));
    CHECK(given.lanes[Work::compute]->busy > 0);
    CHECK_FALSE(given.lanes[Work::storage_read]);
    CHECK(choose_step(asked, SettingsOf::planner, "1TB").step <= given.step);
}

TEST_CASE("chosen plan: one that does not fit is refused with what would", "[train]") {
    if (!built_with_planner()) return;
    PlannedScenario asked = seven_b();
    asked.model.model = "qwen2.5-72b";
    asked.machine.machine = "h200-sxm-pcie5";
    CHECK_THROWS_WITH(choose_step(asked, SettingsOf::planner, "60GB"),
                      ContainsSubstring("--machine h200-sxm-pcie5: the plan does not fit: host") &&
                          ContainsSubstring("; fits with --"));
    asked.machine.machine = "h200-sxm-pcie";
    CHECK_THROWS_WITH(choose_step(asked, SettingsOf::planner, "1TB"),
                      ContainsSubstring("h200-sxm-pcie5"));
}

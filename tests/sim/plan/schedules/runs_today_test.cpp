// Does a program train that model on that machine today, by hand-written cases?
#include "sim/plan/runs_today.h"

#include "sim/plan/schedules/schedules.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

RunsToday today(const char* schedule, const char* model, const char* machine) {
    return runs_today(Schedule(schedule), read_model(model),
                      resolve_machine(read_machine_profile(machine)));
}

}  // namespace

TEST_CASE("runs today: a dense model on NVIDIA GPUs runs with every program but Accelerate",
          "[plan]") {
    for (const char* machine : {"h200-sxm-pcie5", "gh200-480gb", "gb300", "dgx-spark-gb10"})
        for (const ScheduleRecord& schedule : schedule_table()) {
            INFO(machine << " " << schedule.name);
            const RunsToday found = today(schedule.name, "qwen2.5-14b", machine);
            CHECK(found.program == schedule.program.name);
            CHECK(found.runs() == (found.program != "Accelerate"));
        }
    CHECK(today("streamed", "qwen2.5-14b", "h200-sxm-pcie5").program == "sluice-train");
    CHECK(today("superoffload", "qwen2.5-14b", "gh200-480gb").program == "DeepSpeed SuperOffload");
}

TEST_CASE("runs today: 70B on an MI355X runs with the programs that were seen on AMD GPUs",
          "[plan]") {
    const char *const model = "llama-3.1-70b", *const machine = "mi355x";
    CHECK(today("streamed", model, machine).why_not ==
          "sluice-train is known to run on NVIDIA GPUs only");
    CHECK(today("superoffload", model, machine).why_not ==
          "DeepSpeed SuperOffload is known to run on NVIDIA GPUs only");
    CHECK_FALSE(today("zero-infinity", model, machine).runs());
    for (const char* schedule :
         {"megatrain", "fsdp-offload", "resident", "zero3-offload", "cluster"}) {
        INFO(schedule);
        CHECK(today(schedule, model, machine).runs());
    }
    CHECK_THAT(
        today("megatrain", model, machine).source,
        ContainsSubstring("chinmaydk99/MegaTrain@69d5ab61") && ContainsSubstring(", 2026-11-23"));
}

TEST_CASE("runs today: experts run with several programs, not all with sluice-train", "[plan]") {
    const char* const model = "qwen3-30b-a3b";
    CHECK(today("streamed", "gpt-oss-20b", "h200-sxm-pcie5").why_not ==
          "sluice-train has no yarn scaling of positions");
    CHECK(today("llmq", "mixtral-8x7b-v0.1", "h200-sxm-pcie5").why_not ==
          "LLMQ has no mixture of experts");
    for (const char* schedule :
         {"streamed", "megatrain", "fsdp-offload", "resident", "zero3-offload", "superoffload"}) {
        INFO(schedule);
        CHECK(today(schedule, model, "h200-sxm-pcie5").runs());
    }
    CHECK(today("megatrain", model, "mi355x").why_not ==
          "MegaTrain has no known run of a mixture of experts on AMD GPUs");
    CHECK(today("zero3-offload", model, "mi355x").runs());
}

TEST_CASE("runs today: other families, Apple, and a machine of an unknown maker", "[plan]") {
    CHECK(today("streamed", "gpt2", "h200-sxm-pcie5").why_not ==
          "sluice-train has no learned positions");
    MachineSpec machine;
    machine.gpu_maker = "Apple";
    const ModelSpec model = read_model("qwen2.5-7b");
    CHECK(runs_today(Schedule("resident"), model, machine).runs());
    CHECK(runs_today(Schedule("fsdp-offload"), model, machine).why_not ==
          "PyTorch FSDP2 is known to run on NVIDIA and AMD GPUs only");
    machine.gpu_maker = "";
    CHECK_THAT(runs_today(Schedule("resident"), model, machine).why_not,
               ContainsSubstring("gpu.maker"));
}

TEST_CASE("runs today: settings that the trainer refuses on that GPU do not run", "[plan]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const auto why_not = [&](const TrainingSpec& training, const char* machine) {
        return runs_today(training, model, resolve_machine(read_machine_profile(machine))).why_not;
    };
    TrainingSpec documents;
    documents.attend_within = AttendWithin::document;
    CHECK(why_not(documents, "a100-80gb-sxm") ==
          "sluice-train has no --attend-within document on GPUs of compute capability 8.0");
    CHECK(why_not(documents, "rtx-5090") ==
          "sluice-train has no --attend-within document on GPUs of compute capability 12.0");
    for (const char* machine : {"h200-sxm-pcie5", "gh200-480gb", "b200-sxm", "b300-sxm"})
        CHECK(why_not(documents, machine).empty());
    CHECK(why_not(TrainingSpec{}, "a100-80gb-sxm").empty());
}

#include "engine/train/chosen_plan.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "engine/machine/host_facts.h"
#include "engine/train/progress.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// ./dev predict builds the second one first.
constexpr std::array kPlanners = {"sluice", "predict/sluice"};

fs::path planner(const PlannedScenario& asked) {
    std::error_code error;
    const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const char* name : kPlanners)
        if (const fs::path program = folder / name; fs::is_regular_file(program, error))
            return program;
    throw InputError(
        fmt::format("--machine {}: the planner, sluice, is not in {}; where it is, write a plan "
                    "with: sluice predict{} --json >plan.json, and give --plan plan.json",
                    asked.machine.machine, folder.string(), scenario_flags(asked)),
        "machine");
}

/// A profile may be of a machine of this kind with more memory.
std::optional<std::string> less_memory_here(const PlannedMachine& asked) {
    const Bytes profile = read_machine(asked).spec.host.memory_capacity;
    const Bytes here = host_memory_capacity(read_host_facts()).value_or(profile);
    return here < profile ? std::optional(fmt::format("{}B", here)) : std::nullopt;
}

std::string output_of(const std::string& command, const PlannedScenario& asked) {
    std::FILE* const pipe = popen(command.c_str(), "re");
    if (pipe == nullptr) throw std::system_error(errno, std::generic_category(), command);
    std::string out;
    std::array<char, 4096> part{};
    while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe))
        out.append(part.data(), count);
    if (pclose(pipe) != 0)
        throw InputError(
            fmt::format("--machine {}: the planner chose no plan, for the reason above",
                        asked.machine.machine),
            "machine");
    return out;
}

}  // namespace

ExpectedStep choose_step(PlannedScenario asked, const std::optional<std::string>& host_memory) {
    const std::string program = shell_quoted(planner(asked));
    asked.machine.host_memory = host_memory ? host_memory : less_memory_here(asked.machine);
    const std::string flags = scenario_flags(asked);
    const ExpectedStep out = parse_expected_step(
        output_of(fmt::format("{} predict{} --plan auto --json", program, flags), asked),
        "--machine " + asked.machine.machine);
    PlannedScenario chosen = asked;
    chosen.training = out.training;
    const auto settings = changed_settings(training_values(asked), training_values(chosen));
    say(fmt::format("plan for {}: {}\nexpected: {} a step\n", asked.machine.machine,
                    settings.empty() ? "as given" : setting_flags(settings),
                    format_seconds(out.step)));
    return out;
}

}  // namespace sluice

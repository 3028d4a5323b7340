#include "engine/train/chosen_plan.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "engine/machine/host_facts.h"
#include "engine/machine/setup_warnings.h"
#include "engine/train/progress.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/specs/machine/library_match.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// ./dev predict builds the second one first.
constexpr std::array kPlanners = {"sluice", "predict/sluice"};

fs::path folder_of_programs() {
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error).parent_path();
}

std::optional<fs::path> find_planner() {
    std::error_code error;
    for (const char* name : kPlanners)
        if (fs::path program = folder_of_programs() / name; fs::is_regular_file(program, error))
            return program;
    return std::nullopt;
}

fs::path planner(const PlannedScenario& asked) {
    if (std::optional<fs::path> found = find_planner()) return *std::move(found);
    throw InputError(
        fmt::format("--machine {}: the planner, sluice, is not in {}; where it is, write a plan "
                    "with: sluice predict{} --json >plan.json, and give --plan plan.json",
                    asked.machine.machine, folder_of_programs().string(), scenario_flags(asked)),
        "machine");
}

/// So that a plan that does not fit is no riddle.
void say_limit(const HostFacts& host) {
    if (const auto words = control_group_words(host)) say(fmt::format("host memory: {}\n", *words));
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

ExpectedStep choose_step(PlannedScenario asked, PlanSearch search,
                         const std::optional<std::string>& host_memory) {
    const std::string program = shell_quoted(planner(asked));
    if (!host_memory) say_limit(read_host_facts());
    asked.machine.host_memory = host_memory ? host_memory : less_memory_here(asked.machine);
    const std::string flags = scenario_flags(asked);
    const ExpectedStep out =
        parse_expected_step(output_of(fmt::format("{} predict{} --plan {} --json", program, flags,
                                                  search == PlanSearch::fastest ? "auto" : "given"),
                                      asked),
                            "--machine " + asked.machine.machine);
    PlannedScenario chosen = asked;
    chosen.training = out.training;
    const auto settings = changed_settings(training_values(asked), training_values(chosen));
    if (search == PlanSearch::fastest)
        say(fmt::format("plan for {}: {}\n", asked.machine.machine,
                        settings.empty() ? "as given" : setting_flags(settings)));
    say(fmt::format("expected: {} a step\n", format_seconds(out.step)));
    return out;
}

MachineChoice machine_for(const std::string& gpu, double cpus) {
    const std::optional<LibraryMatch> match = library_machine_with(gpu, cpus);
    if (!match)
        return {std::nullopt,
                fmt::format("no machine of `sluice machines` has the GPU {}; give --machine with a "
                            "profile that sluice-calibrate makes here",
                            gpu)};
    if (match->cores == cpus)
        return {match->id, fmt::format("it has the GPU {} and {:g} CPUs, as this one", gpu, cpus)};
    return {match->id,
            fmt::format("it has the GPU {} as this one, and {:g} CPUs where this one has {:g}; "
                        "sluice-calibrate makes a profile of this one for --machine",
                        gpu, match->cores, cpus)};
}

std::optional<ExpectedStep> choose_step_here(PlannedScenario asked, PlanSearch search,
                                             const DeviceFacts& device,
                                             const std::optional<std::string>& host_memory) {
    if (!device.is_gpu) return std::nullopt;
    if (!find_planner()) {
        say(fmt::format("plan as given, since the planner, sluice, is not in {}\n",
                        folder_of_programs().string()));
        return std::nullopt;
    }
    const HostFacts host = read_host_facts();
    const MachineChoice like = machine_for(device.name, static_cast<double>(host.cpus.size()));
    if (!like.machine) {
        say(fmt::format("plan as given, since {}\n", like.because));
        return std::nullopt;
    }
    say(fmt::format("machine {}: {}\n", *like.machine, like.because));
    asked.machine.machine = *like.machine;
    const std::optional<Bytes> here = host_memory_capacity(host);
    if (!host_memory) say_limit(host);
    return choose_step(
        std::move(asked), search,
        host_memory || !here ? host_memory : std::optional(fmt::format("{}B", *here)));
}

}  // namespace sluice

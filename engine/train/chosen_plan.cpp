#include "engine/train/chosen_plan.h"

#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "engine/machine/host_facts.h"
#include "engine/machine/setup_warnings.h"
#include "engine/train/progress.h"
#include "sim/base/format.h"
#include "sim/specs/machine/library_match.h"

namespace sluice {
namespace {

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

/// Gives what the planner's search freed back to the system, since plans fill the host's memory.
void return_free_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace

ExpectedStep choose_step(PlannedScenario asked, SettingsOf settings,
                         const std::optional<std::string>& host_memory) {
    if (!host_memory) say_limit(read_host_facts());
    asked.machine.host_memory = host_memory ? host_memory : less_memory_here(asked.machine);
    const ExpectedStep out = predicted_step(asked, settings);
    return_free_memory();
    PlannedScenario chosen = asked;
    chosen.training = out.training;
    const auto changes = changed_settings(training_values(asked), training_values(chosen));
    if (settings == SettingsOf::planner)
        say(fmt::format("plan for {}: {}\n", asked.machine.machine,
                        changes.empty() ? "as given" : setting_flags(changes)));
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

std::optional<ExpectedStep> choose_step_here(PlannedScenario asked, SettingsOf settings,
                                             const DeviceFacts& device,
                                             const std::optional<std::string>& host_memory) {
    if (!device.is_gpu) return std::nullopt;
    if (!built_with_planner()) {
        say("plan as given, since this sluice-train was built without the planner\n");
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
        std::move(asked), settings,
        host_memory || !here ? host_memory : std::optional(fmt::format("{}B", *here)));
}

}  // namespace sluice

// Which model, machine and settings does somebody name? What flags, forms and project files share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// Which model, as flags say it.
struct ModelFlags {
    std::string model;  ///< a name of the library, dense:..., or a path to a config.json
    std::optional<std::string> layers;
    bool untied = false;
    bool operator==(const ModelFlags&) const = default;
};
/// Throws InputError, as all readers here.
ModelSpec read_model_flags(const ModelFlags& flags);

/// Which machine, with what-if values.
struct MachineFlags {
    std::string machine;  ///< a name of the library, or a path to a profile
    std::optional<std::string> host_memory;
    std::vector<std::string> settings;  ///< --set path=value
    bool operator==(const MachineFlags&) const = default;
};
/// Its profile with what-if values.
MachineProfile read_profile_flags(const MachineFlags& flags);
/// Refuses a what-if value on which no prediction for that machine rests.
MachineSpec resolve_machine_flags(const MachineProfile& profile, const MachineFlags& flags);
/// Both.
MachineSpec read_machine_flags(const MachineFlags& flags);

/// What an option holds, its range and default, in a line.
std::string option_help(const Option& option);

/// A number above 0 of at most 1e15; `where` is its name in messages.
double parse_positive(std::string_view text, std::string_view where);

}  // namespace sluice

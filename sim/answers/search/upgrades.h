// Which changes of a machine are tried: more memory, a faster link, more cores, the next GPU?
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// Numbers of a profile, by path.
using Numbers = std::vector<std::pair<std::string, double>>;

/// A change of the machine, before it is tried.
struct MachineChange {
    std::string name;
    std::function<MachineSpec(const MachineSpec&)> change;
    bool replaces_gpu = false;
    Numbers numbers = {};  ///< numbers of the profile that may make the change
};

struct MachineChanges {
    std::vector<MachineChange> changes;
    std::vector<std::string> not_possible;  ///< "another GPU: host and device are one memory"
};

/// `gpu` is a machine whose GPU is tried; empty: the next one of the library.
MachineChanges machine_changes(const MachineSpec& machine, const MachineProfile& profile,
                               const std::string& gpu);

/// The library's machine with the next GPU: same vendor, released no earlier, no slower and with no
/// less memory, and with one of the two larger by 5%. If there are several, the one with the
/// smallest increase of both. Empty if there is none.
std::optional<MachineSpec> next_gpu(const MachineSpec& machine, const MachineProfile& profile);

/// A machine of the library, with 1 TB of host memory if its profile does not say how much.
std::optional<MachineSpec> resolvable_machine(const std::string& id);

}  // namespace sluice

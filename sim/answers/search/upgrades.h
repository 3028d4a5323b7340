// Which changes of a machine are worth a try: more memory, a faster link, more cores, the next GPU?
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
    Numbers numbers = {};  ///< of the profile, that should make the change
};

struct MachineChanges {
    std::vector<MachineChange> changes;
    std::vector<std::string> not_possible;  ///< "another GPU: host and device are one memory"
};

/// `gpu` is a machine whose GPU is tried; empty: the next one of the library.
MachineChanges machine_changes(const MachineSpec& machine, const MachineProfile& profile,
                               const std::string& gpu);

/// The library's machine whose GPU comes next: of the same maker, released no earlier, no
/// slower and with no less memory, and one of the two by 5% more; of several the one with the least
/// of both. Nothing where there is none.
std::optional<MachineSpec> next_gpu(const MachineSpec& machine, const MachineProfile& profile);

/// A machine of the library; 1 TB of host memory where its profile does not know how much.
std::optional<MachineSpec> resolvable_machine(const std::string& id);

}  // namespace sluice

// Which numbers of a machine does a prediction use, and where is each from?
#pragma once

#include "sim/report/table.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// The numbers of machine.inputs that are single numbers, and storage rates that are not known and
/// may be given. `profile` contains the what-if values; `settings` names them as "PATH=NUMBER", and
/// their rows are marked. Column keys: "value" for the value, "path" for the path.
Table machine_numbers_table(const MachineProfile& profile, const MachineSpec& machine,
                            const std::vector<std::string>& settings);

}  // namespace sluice

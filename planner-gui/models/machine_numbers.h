// Which numbers of a machine does a prediction rest on, and where is each from?
#pragma once

#include "sim/report/table.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// Those of machine.inputs that are single numbers, and the rates of a storage that is not known,
/// to be given. `profile` has what-if values; `settings` are these, "PATH=NUMBER", whose rows are
/// marked. Key of the value: "value"; of the path: "path".
Table machine_numbers_table(const MachineProfile& profile, const MachineSpec& machine,
                            const std::vector<std::string>& settings);

}  // namespace sluice

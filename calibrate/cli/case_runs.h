// What if a case fails, or the user stops? What was measured is kept, and a message says how to go
// on.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/cli/measure.h"

namespace sluice {

/// Calls measure_and_store() for one case after another, until stop(). Returns how many are done.
/// Where a case throws, throws an error of the same kind (InputError, InternalError, or else
/// std::runtime_error) that names the case, says that those before are kept in `file`, and gives
/// both commands: to go on, and to leave the case out.
std::size_t run_cases(const MeasureFlags& flags, const std::string& file,
                      const std::vector<std::string>& cases,
                      const std::function<void(const std::string& name)>& measure_and_store,
                      const std::function<bool()>& stop);

/// The command that measures `cases` in the way that `flags` say.
std::string command_for(const MeasureFlags& flags, const std::vector<std::string>& cases);

/// The command that goes on where those of `flags` ended before `left` were measured.
std::string command_to_go_on(const MeasureFlags& flags, const std::vector<std::string>& left);

}  // namespace sluice

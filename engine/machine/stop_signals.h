// Was the program told to stop?
#pragma once

#include <string_view>

#include "sim/base/units.h"

namespace sluice {

/// From now on the first SIGINT, SIGTERM or SIGHUP makes stop_requested() true and writes `text` to
/// stderr; a second one ends the program at once. `text` must outlive the program's signals.
void stop_on_signals(std::string_view text);
bool stop_requested();
/// Since then; 0: none came.
Seconds since_stop_signal();
/// The number of the first of those signals; 0: none came.
int stop_signal();

}  // namespace sluice

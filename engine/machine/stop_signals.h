// Was the program told to stop, or to save?
#pragma once

#include <string_view>

#include "sim/base/units.h"

namespace sluice {

/// From now on the first SIGINT, SIGTERM or SIGHUP makes stop_requested() true and writes `text` to
/// stderr; a second one ends the program at once. A SIGHUP that is ignored stays so, as nohup asks.
/// `text` must outlive the program's signals.
void stop_on_signals(std::string_view text);
bool stop_requested();
/// Since then; 0: none came.
Seconds since_stop_signal();
/// The number of the first of those signals; 0: none came.
int stop_signal();

/// From now on SIGUSR1 asks for a checkpoint, as Slurm's --signal=USR1@120 does before the end.
void save_on_signal();
/// Whether one came since the last call.
bool take_save_request();

}  // namespace sluice

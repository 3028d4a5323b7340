// Was the run asked to stop?
#pragma once

namespace sluice {

/// From now on SIGINT, SIGTERM and SIGHUP end a run after the step that is under way; a second one
/// ends the program at once.
void stop_on_signals();
bool stop_requested();

}  // namespace sluice

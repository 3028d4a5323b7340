// How does a simulation give the same bits whatever ran before it? SimGrid's clock goes on from one
// simulation to the next, and with it the rounding of every time; a process of its own starts it at
// zero, as sluice predict does.
#pragma once

#include <functional>
#include <string>

namespace sluice {

/// What `work` returns, run in a copy of this process (0.3 ms). Precondition: nothing has been
/// simulated in this process. Throws std::runtime_error with what `work` threw, or where the copy
/// died. `waiting` is called every half second until then.
std::string in_fresh_process(const std::function<std::string()>& work,
                             const std::function<void()>& waiting = {});

}  // namespace sluice

// Who does the work of a search? SimGrid has one engine a process, so that workers are processes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sluice {

/// Answers a request. Runs in the worker; may throw.
using Work = std::function<std::string(const std::string& request)>;
/// Takes the answer to the request of that number.
using TakeAnswer = std::function<void(std::size_t request, const std::string& answer)>;

class WorkerPool {
  public:
    virtual ~WorkerPool() = default;
    /// Returns when every request has been answered; answers come in any order. A request whose
    /// worker died is given to another. Throws std::runtime_error with what a worker threw, or
    /// where a request ends one worker after another.
    virtual void run(const std::vector<std::string>& requests, const TakeAnswer& take) = 0;
    virtual int workers() const = 0;
};

/// This process does all of it.
std::unique_ptr<WorkerPool> work_here(Work work);

/// `workers` processes, forked now: they know what `work` has captured until now. Precondition:
/// workers > 0; nothing has been simulated in this process.
std::unique_ptr<WorkerPool> fork_workers(int workers, Work work);

/// Processors that this process may use.
int usable_processors();

}  // namespace sluice

// What does the simulation thread do next? A verdict goes before all else, even between two
// simulations of a longer job; a newer job of a kind takes the place of an older one.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

namespace sluice {

class JobQueue {
  public:
    /// What a job does, on the simulation thread. It may throw Cancelled, nothing else.
    using Work = std::function<void()>;

    JobQueue() = default;
    /// Stops all and waits for it.
    ~JobQueue();
    JobQueue(const JobQueue&) = delete;
    JobQueue& operator=(const JobQueue&) = delete;

    /// A verdict; one that is under way or waits is superseded.
    void post_verdict(Work work);
    /// A job; one of the same kind that is under way or waits is superseded.
    void post_job(int kind, Work work);
    void cancel_job(int kind);

  private:
    struct Job {
        int kind = 0;
        std::stop_source stop;
        Work work;
    };
    using JobPtr = std::shared_ptr<Job>;

    void remove(int kind);
    void run_next();
    void run_verdict();
    void run(const JobPtr& job);

    std::mutex mutex_;
    JobPtr verdict_;           ///< waits
    std::deque<JobPtr> jobs_;  ///< wait
    JobPtr running_verdict_, running_job_;
};

}  // namespace sluice

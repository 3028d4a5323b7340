#include "planner-gui/session/job_queue.h"

#include <algorithm>
#include <utility>

#include "planner-gui/session/simulation_thread.h"
#include "sim/simulate/simulation_scope.h"

namespace sluice {

JobQueue::~JobQueue() {
    {
        const std::lock_guard lock(mutex_);
        verdict_.reset();
        jobs_.clear();
        for (const JobPtr& job : {running_verdict_, running_job_})
            if (job) job->stop.request_stop();
    }
    SimulationThread::instance().wait();
}

void JobQueue::post_verdict(Work work) {
    const std::lock_guard lock(mutex_);
    if (running_verdict_) running_verdict_->stop.request_stop();
    verdict_ = std::make_shared<Job>(Job{-1, {}, std::move(work)});
    SimulationThread::instance().post([this] { run_next(); });
}

void JobQueue::post_job(int kind, Work work) {
    const std::lock_guard lock(mutex_);
    remove(kind);
    jobs_.push_back(std::make_shared<Job>(Job{kind, {}, std::move(work)}));
    SimulationThread::instance().post([this] { run_next(); });
}

void JobQueue::cancel_job(int kind) {
    const std::lock_guard lock(mutex_);
    remove(kind);
}

void JobQueue::remove(int kind) {
    std::erase_if(jobs_, [kind](const JobPtr& job) { return job->kind == kind; });
    if (running_job_ && running_job_->kind == kind) running_job_->stop.request_stop();
}

void JobQueue::run_next() {
    run_verdict();
    {
        const std::lock_guard lock(mutex_);
        if (jobs_.empty()) return;
        running_job_ = jobs_.front();
        jobs_.pop_front();
    }
    run(running_job_);
    const std::lock_guard lock(mutex_);
    running_job_.reset();
}

void JobQueue::run_verdict() {
    while (true) {
        {
            const std::lock_guard lock(mutex_);
            if (!verdict_) return;
            running_verdict_ = std::exchange(verdict_, nullptr);
        }
        run(running_verdict_);
        const std::lock_guard lock(mutex_);
        running_verdict_.reset();
    }
}

void JobQueue::run(const JobPtr& job) {
    const bool is_job = job->kind >= 0;
    const SimulationScope scope(job->stop.get_token(), [this, is_job] {
        if (is_job) run_verdict();
    });
    try {
        if (!job->stop.stop_requested()) job->work();
    } catch (const Cancelled&) {
        // Somebody asked for something newer.
    }
}

}  // namespace sluice

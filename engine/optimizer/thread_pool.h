// Which threads do host work, and on which cores? Threads that stay for the whole run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace sluice {

class ThreadPool {
  public:
    /// `threads` workers; worker i is pinned to cpus[i % size] unless `cpus` is empty.
    explicit ThreadPool(int threads, std::vector<int> cpus = {});
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int size() const;
    /// Calls body(begin, end) for pieces of [0, count), each a multiple of `grain` except the last,
    /// on all workers, and returns when all are done. One call at a time. Throws an exception of a
    /// body again.
    void parallel_for(std::int64_t count, std::int64_t grain,
                      const std::function<void(std::int64_t, std::int64_t)>& body);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace sluice

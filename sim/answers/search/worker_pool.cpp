#include "sim/answers/search/worker_pool.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <optional>
#include <stdexcept>

namespace sluice {
namespace {

constexpr char kAnswered = 'a', kFailed = 'f';
constexpr int kMostTries = 3;  ///< of a request whose workers die

/// False where the other end is gone.
bool send_all(int file, const char* data, std::size_t size) {
    while (size > 0) {
        const ssize_t sent = send(file, data, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        data += sent;
        size -= static_cast<std::size_t>(sent);
    }
    return true;
}

bool receive_all(int file, char* data, std::size_t size) {
    while (size > 0) {
        const ssize_t got = recv(file, data, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        data += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

/// A message is its length, then its bytes.
bool send_message(int file, const std::string& message) {
    const std::uint64_t size = message.size();
    return send_all(file, reinterpret_cast<const char*>(&size), sizeof size) &&
           send_all(file, message.data(), message.size());
}

std::optional<std::string> receive_message(int file) {
    std::uint64_t size = 0;
    if (!receive_all(file, reinterpret_cast<char*>(&size), sizeof size)) return std::nullopt;
    std::string message(size, '\0');
    if (!receive_all(file, message.data(), size)) return std::nullopt;
    return message;
}

std::string answer_of(const Work& work, const std::string& request) {
    try {
        return kAnswered + work(request);
    } catch (const std::exception& error) {
        return kFailed + std::string(error.what());
    }
}

class HerePool : public WorkerPool {
  public:
    explicit HerePool(Work work) : work_(std::move(work)) {}
    int workers() const override { return 1; }
    void run(const std::vector<std::string>& requests, const TakeAnswer& take) override {
        for (std::size_t i = 0; i < requests.size(); ++i) take(i, work_(requests[i]));
    }

  private:
    Work work_;
};

class ForkPool : public WorkerPool {
  public:
    ForkPool(int workers, Work work) : work_(std::move(work)) {
        workers_.resize(static_cast<std::size_t>(workers));
        for (Worker& worker : workers_) start(worker);
    }
    ~ForkPool() override {
        for (Worker& worker : workers_) close(worker.file);
        for (Worker& worker : workers_) waitpid(worker.process, nullptr, 0);
    }
    int workers() const override { return static_cast<int>(workers_.size()); }

    void run(const std::vector<std::string>& requests, const TakeAnswer& take) override {
        std::deque<std::size_t> waiting;
        for (std::size_t i = 0; i < requests.size(); ++i) waiting.push_back(i);
        std::vector<int> tries(requests.size(), 0);
        for (std::size_t answered = 0; answered < requests.size();) {
            for (Worker& worker : workers_) give(worker, requests, waiting, tries);
            std::vector<pollfd> files;
            for (const Worker& worker : workers_)
                files.push_back({worker.file, static_cast<short>(worker.request ? POLLIN : 0), 0});
            if (poll(files.data(), files.size(), -1) < 0 && errno != EINTR)
                throw std::runtime_error("the workers of the search cannot be heard");
            for (std::size_t i = 0; i < files.size(); ++i) {
                Worker& worker = workers_[i];
                if (!worker.request || files[i].revents == 0) continue;
                const std::size_t request = *worker.request;
                worker.request.reset();
                const std::optional<std::string> answer = receive_message(worker.file);
                if (!answer) {
                    replace(worker, request, tries);
                    waiting.push_front(request);
                    continue;
                }
                if (answer->front() == kFailed) throw std::runtime_error(answer->substr(1));
                ++answered;
                take(request, answer->substr(1));
            }
        }
    }

  private:
    struct Worker {
        pid_t process = -1;
        int file = -1;
        std::optional<std::size_t> request;  ///< that it works on
    };

    void start(Worker& worker) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            throw std::runtime_error("no socket for a worker of the search; too many open files?");
        std::fflush(nullptr);
        const pid_t process = fork();
        if (process < 0) throw std::runtime_error("no process for a worker of the search");
        if (process == 0) {
            close(ends[0]);
            // Theirs must end when the parent does.
            for (const Worker& other : workers_)
                if (other.file >= 0) close(other.file);
            std::signal(SIGINT, SIG_IGN);  // the parent decides
            serve(ends[1]);
        }
        close(ends[1]);
        worker = {process, ends[0], {}};
    }

    [[noreturn]] void serve(int file) const {
        while (const std::optional<std::string> request = receive_message(file))
            if (!send_message(file, answer_of(work_, *request))) break;
        _exit(0);
    }

    void give(Worker& worker, const std::vector<std::string>& requests,
              std::deque<std::size_t>& waiting, std::vector<int>& tries) {
        while (!worker.request && !waiting.empty()) {
            const std::size_t request = waiting.front();
            if (!send_message(worker.file, requests[request])) {
                replace(worker, request, tries);
                continue;
            }
            waiting.pop_front();
            worker.request = request;
        }
    }

    void replace(Worker& worker, std::size_t request, std::vector<int>& tries) {
        close(worker.file);
        worker.file = -1;
        waitpid(worker.process, nullptr, 0);
        if (++tries[request] == kMostTries)
            throw std::runtime_error(fmt::format(
                "a part of the search ended {} workers, one after another; out of memory?",
                kMostTries));
        start(worker);
    }

    Work work_;
    std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<WorkerPool> work_here(Work work) {
    return std::make_unique<HerePool>(std::move(work));
}

std::unique_ptr<WorkerPool> fork_workers(int workers, Work work) {
    return std::make_unique<ForkPool>(workers, std::move(work));
}

int usable_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return std::max(1, CPU_COUNT(&set));
}

}  // namespace sluice

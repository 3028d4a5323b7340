#include "sim/answers/search/mpi_pool.h"

#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <exception>
#include <list>
#include <optional>
#include <stdexcept>

#include "sim/answers/search/fresh_process.h"
#include "sim/answers/search/search_row.h"

namespace sluice {
namespace {

enum Tag : int { kRequest = 1, kAnswer, kFailed, kAlive, kStop, kStopWithoutLost };
constexpr useconds_t kPause = 100;  ///< microseconds between looks for a message

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

struct Message {
    int from = 0, tag = 0;
    std::string bytes;
};

std::optional<Message> receive_if_any() {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (there == 0) return std::nullopt;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Message message{status.MPI_SOURCE, status.MPI_TAG,
                    std::string(static_cast<std::size_t>(size), '\0')};
    MPI_Recv(message.bytes.data(), size, MPI_BYTE, message.from, message.tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return message;
}

void send(int rank, int tag, const std::string& bytes) {
    MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}

/// Sends that need not be waited for: to a rank that is gone they never end.
class Outbox {
  public:
    void send(int rank, int tag, std::string bytes) {
        Sent& sent = sent_.emplace_back();
        sent.bytes = std::move(bytes);
        MPI_Isend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_BYTE, rank, tag,
                  MPI_COMM_WORLD, &sent.request);
    }
    /// Forgets what has arrived; whether that is all.
    bool clear() {
        sent_.remove_if([](Sent& sent) {
            int done = 0;
            MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE);
            return done != 0;
        });
        return sent_.empty();
    }

  private:
    struct Sent {
        std::string bytes;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    std::list<Sent> sent_;
};

class MpiPool : public WorkerPool {
  public:
    explicit MpiPool(Work work) : work_(std::move(work)) {
        int ranks = 0;
        MPI_Init(nullptr, nullptr);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        ranks_.resize(static_cast<std::size_t>(ranks));
        ranks_[0].lost = true;  // this one gives out the work
    }

    /// Ends the other ranks. Where one is lost, MPI cannot be finalized: that waits for all.
    ~MpiPool() override {
        const bool any_lost = lost() > 1;
        for (std::size_t rank = 1; rank < ranks_.size(); ++rank)
            if (!ranks_[rank].lost)
                outbox_.send(static_cast<int>(rank), any_lost ? kStopWithoutLost : kStop, "");
        if (!any_lost) {
            while (!outbox_.clear()) usleep(kPause);
            MPI_Finalize();
            return;
        }
        const double until = now_s() + 1;
        while (!outbox_.clear() && now_s() < until) usleep(kPause);
        std::fflush(nullptr);
        if (std::uncaught_exceptions() == 0) _exit(0);
        std::fputs(
            "sluice: the sweep failed after a rank was lost; what was simulated is kept: start it "
            "again\n",
            stderr);
        _exit(1);
    }

    int workers() const override { return static_cast<int>(ranks_.size() - lost()); }

    void run(const std::vector<std::string>& requests, const TakeAnswer& take) override {
        ++run_;
        std::deque<std::size_t> waiting;
        for (std::size_t i = 0; i < requests.size(); ++i) waiting.push_back(i);
        std::vector<bool> answered(requests.size(), false);
        for (std::size_t left = requests.size(); left > 0;) {
            for (std::size_t rank = 1; rank < ranks_.size(); ++rank)
                give(rank, requests, waiting, answered);
            if (lost() == ranks_.size() && !waiting.empty()) {
                const std::size_t request = waiting.front();
                waiting.pop_front();
                if (answered[request]) continue;
                take(request, in_fresh_process([&] { return work_(requests[request]); }));
                answered[request] = true;
                --left;
                continue;
            }
            const std::optional<Message> message = receive_if_any();
            outbox_.clear();
            if (!message) {
                usleep(kPause);
                find_lost(waiting);
                continue;
            }
            const std::optional<std::size_t> request = heard(*message);
            if (!request || answered[*request]) continue;
            answered[*request] = true;
            --left;
            take(*request, message->bytes.substr(2 * sizeof(std::uint64_t)));
        }
    }

  private:
    struct Rank {
        bool lost = false;
        std::optional<std::size_t> request;  ///< that it works on, of `run`
        std::uint64_t run = 0;
        double heard = 0;  ///< when
    };

    std::size_t lost() const {
        std::size_t count = 0;
        for (const Rank& rank : ranks_) count += rank.lost ? 1 : 0;
        return count;
    }

    void give(std::size_t number, const std::vector<std::string>& requests,
              std::deque<std::size_t>& waiting, const std::vector<bool>& answered) {
        Rank& rank = ranks_[number];
        while (!waiting.empty() && answered[waiting.front()]) waiting.pop_front();
        if (rank.lost || rank.request || waiting.empty()) return;
        rank.request = waiting.front();
        rank.run = run_;
        rank.heard = now_s();
        waiting.pop_front();
        std::string bytes;
        put_number(bytes, run_);
        put_number(bytes, *rank.request);
        outbox_.send(static_cast<int>(number), kRequest, bytes + requests[*rank.request]);
    }

    /// The request of this run that the message answers, if it does.
    std::optional<std::size_t> heard(const Message& message) {
        Rank& rank = ranks_[static_cast<std::size_t>(message.from)];
        rank.heard = now_s();
        rank.lost = false;  // it was only slow
        if (message.tag == kAlive) return std::nullopt;
        std::string_view in = message.bytes;
        const std::uint64_t run = take_number(in), request = take_number(in);
        // One that was taken for lost may answer what another has been given since.
        if (run == rank.run && rank.request == request) rank.request.reset();
        if (run != run_) return std::nullopt;
        if (message.tag == kFailed) throw std::runtime_error(std::string(in));
        return request;
    }

    void find_lost(std::deque<std::size_t>& waiting) {
        for (Rank& rank : ranks_) {
            if (rank.lost || !rank.request || now_s() - rank.heard < kLostAfter) continue;
            rank.lost = true;
            if (rank.run == run_) waiting.push_front(*rank.request);
            rank.request.reset();
            std::fputs("sweep: a rank is lost; its work is done by another\n", stderr);
        }
    }

    Work work_;
    std::vector<Rank> ranks_;
    Outbox outbox_;
    std::uint64_t run_ = 0;
};

void answer(const Work& work, const std::string& request) {
    constexpr std::size_t kHead = 2 * sizeof(std::uint64_t);  // sent back as it came
    const std::string head = request.substr(0, kHead);
    try {
        send(0, kAnswer,
             head + in_fresh_process([&] { return work(request.substr(kHead)); },
                                     [] { send(0, kAlive, ""); }));
    } catch (const std::exception& error) {
        send(0, kFailed, head + error.what());
    }
}

}  // namespace

std::unique_ptr<WorkerPool> mpi_workers(Work work) {
    return std::make_unique<MpiPool>(std::move(work));
}

void serve_mpi(const Work& work) {
    MPI_Init(nullptr, nullptr);
    while (true) {
        const std::optional<Message> message = receive_if_any();
        if (!message) {
            usleep(kPause);
        } else if (message->tag == kRequest) {
            answer(work, message->bytes);
        } else {
            if (message->tag == kStopWithoutLost) _exit(0);
            break;
        }
    }
    MPI_Finalize();
}

}  // namespace sluice

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "calibrate/cases/bench.h"
#include "calibrate/cases/storage_file.h"

namespace sluice {
namespace {

constexpr Bytes kLargestBlock = 16 * kMiB;
constexpr int kStorageRepeats = 3;
constexpr Seconds kRepeat = 0.13, kQuickRepeat = 0.06;  // 18 points, three times: 7 s; 6: 1.1 s
constexpr Seconds kFill = 1.5, kQuickFill = 0.4;
// The system's cache accepts this much at once without direct access; the disk must then write it.
constexpr Bytes kBufferedRepeat = 256 * kMiB;

struct StoragePoint {
    Bytes block;
    int depth;
};

std::vector<StoragePoint> storage_points(bool quick) {
    if (quick) return {{kMiB / 4, 1}, {4 * kMiB, 4}, {kLargestBlock, 4}};
    std::vector<StoragePoint> points;
    for (const Bytes block : {kMiB / 4, 4 * kMiB, kLargestBlock})
        for (const int depth : {1, 4, 16}) points.push_back({block, depth});
    return points;
}

class StorageBench {
  public:
    StorageBench(const StorageSettings& settings, Bytes bytes)
        : file_(settings.folder),
          random_(kLargestBlock),
          repeat_(settings.quick ? kQuickRepeat : kRepeat) {
        const Seconds end = host_seconds() + (settings.quick ? kQuickFill : kFill);
        const std::int64_t blocks = bytes / kLargestBlock;
        // A slow disk gets a smaller file: as much as is filled in 1.5 s (quick: 0.4 s), but at
        // least four blocks.
        while (blocks_ < blocks && (blocks_ < 4 || host_seconds() < end)) {
            file_.write(random_.at(blocks_), kLargestBlock, blocks_ * kLargestBlock);
            if (!file_.is_direct()) file_.flush();
            ++blocks_;
        }
        file_.flush();
    }

    bool is_direct() const { return file_.is_direct(); }
    Seconds repeat() const { return repeat_; }
    Bytes bytes() const { return blocks_ * kLargestBlock; }

    /// Reads a block in the middle and compares it with what was written.
    bool reads_back() const {
        const std::int64_t block = blocks_ / 2;
        const AlignedBuffer buffer = aligned_buffer(kLargestBlock);
        file_.read(buffer.get(), kLargestBlock, block * kLargestBlock);
        return std::memcmp(buffer.get(), random_.at(block), kLargestBlock) == 0;
    }

    /// GB/s of `point.depth` threads that take turns over the file's blocks, in order.
    Sample rate(const StoragePoint& point, bool writes) {
        const std::vector<AlignedBuffer> buffers = make_buffers(point);
        std::vector<double> rates;
        for (int repeat = 0; repeat < kStorageRepeats; ++repeat) {
            const Seconds begin = host_seconds();
            const Bytes done = run(point, writes, buffers);
            if (writes) file_.flush();
            rates.push_back(static_cast<double>(done) / kGiga / (host_seconds() - begin));
            if (!writes && !is_direct()) file_.flush();  // drops what was read from the cache
        }
        return summarize(rates);
    }

  private:
    static std::vector<AlignedBuffer> make_buffers(const StoragePoint& point) {
        std::vector<AlignedBuffer> buffers;
        for (int thread = 0; thread < point.depth; ++thread) {
            buffers.push_back(aligned_buffer(point.block));
            // Touched, so that the first read does not wait for pages.
            std::memset(buffers.back().get(), 1, static_cast<std::size_t>(point.block));
        }
        return buffers;
    }

    /// Bytes that the threads moved within the time of a repeat.
    Bytes run(const StoragePoint& point, bool writes, const std::vector<AlignedBuffer>& buffers) {
        const std::int64_t blocks = bytes() / point.block;
        const Bytes most =
            is_direct() ? std::numeric_limits<Bytes>::max() : std::min(kBufferedRepeat, bytes());
        const std::int64_t first = next_ / point.block;
        std::atomic<std::int64_t> taken = 0, done = 0;
        std::vector<std::exception_ptr> errors(buffers.size());
        const Seconds end = host_seconds() + repeat_;
        const auto work = [&](std::size_t thread) {
            try {
                while (host_seconds() < end) {
                    const std::int64_t turn = taken++;
                    if (turn * point.block >= most) break;
                    const std::int64_t block = (first + turn) % blocks;
                    const Bytes offset = block * point.block;
                    if (writes)
                        file_.write(random_.at(first + turn), point.block, offset);
                    else
                        file_.read(buffers[thread].get(), point.block, offset);
                    ++done;
                }
            } catch (...) {
                errors[thread] = std::current_exception();
            }
        };
        std::vector<std::thread> threads;
        for (std::size_t thread = 0; thread < buffers.size(); ++thread)
            threads.emplace_back(work, thread);
        for (std::thread& thread : threads) thread.join();
        for (const std::exception_ptr& error : errors)
            if (error != nullptr) std::rethrow_exception(error);
        next_ = (first + taken) % blocks * point.block;
        return done * point.block;
    }

    StorageFile file_;
    RandomBlocks random_;
    Seconds repeat_;
    std::int64_t blocks_ = 0;  ///< of the largest size, filled
    Bytes next_ = 0;           ///< where the next repeat continues
};

CaseTable make_table(bool writes, const StorageBench& bench) {
    CaseTable table;
    table.name = writes ? "storage_write" : "storage_read";
    table.method = fmt::format(
        "{} of a file of {:.2f} GB of random bytes in order by as many threads as the queue is "
        "deep{}; median of {} repeats of {:g} s",
        bench.is_direct() ? (writes ? "direct writes" : "direct reads")
                          : (writes ? "writes through the system's cache"
                                    : "reads dropped from the system's cache before"),
        static_cast<double>(bench.bytes()) / kGiga, writes ? ", with the flush at the end" : "",
        kStorageRepeats, bench.repeat());
    table.columns = {"block_bytes", "queue_depth", "gb_per_s", "low", "high"};
    return table;
}

void measure_points(const StorageSettings& settings, Bytes bytes, CaseRecord& record) {
    StorageBench bench(settings, bytes);
    if (!bench.is_direct())
        record.warnings.push_back(fmt::format(
            "the file system of {} allows no direct access: storage was measured through the "
            "system's cache, flushed and dropped in between, which is less exact",
            settings.folder));
    if (!bench.reads_back()) {
        record.warnings.push_back(fmt::format(
            "a block of 16 MiB written in {} did not read back as it was written: do not keep "
            "checkpoints there",
            settings.folder));
        return;
    }
    const std::vector<StoragePoint> points = storage_points(settings.quick);
    double measured = 0;
    for (const bool writes : {true, false}) {
        CaseTable table = make_table(writes, bench);
        for (const StoragePoint& point : points) {
            const Sample rate = bench.rate(point, writes);
            table.add({static_cast<double>(point.block), static_cast<double>(point.depth),
                       rate.median, rate.low, rate.high});
            if (settings.progress)
                settings.progress(++measured / (2 * static_cast<double>(points.size())));
        }
        record.tables.push_back(std::move(table));
    }
}

}  // namespace

Bytes storage_file_bytes(Bytes free, Bytes most) {
    const Bytes blocks = std::min(most, free / 10) / kLargestBlock;
    return blocks < 4 ? 0 : blocks * kLargestBlock;
}

void measure_storage_in(const StorageSettings& settings, CaseRecord& record) {
    try {
        const Bytes free = free_bytes_below(settings.folder);
        const Bytes bytes = storage_file_bytes(free, settings.most_bytes);
        if (bytes == 0) {
            record.warnings.push_back(
                fmt::format("storage was not measured: {} has {:.2f} GB free, and a tenth of it is "
                            "less than 67 MB; free some space or name another folder",
                            settings.folder, static_cast<double>(free) / kGiga));
            return;
        }
        measure_points(settings, bytes, record);
    } catch (const std::system_error& error) {
        record.warnings.push_back(fmt::format("storage was not measured to the end in {}: {}",
                                              settings.folder, error.what()));
    }
}

void measure_storage(Bench& bench, CaseRecord& record) {
    StorageSettings settings;
    settings.folder = bench.storage_folder;
    settings.quick = bench.quick;
    settings.progress = bench.progress;
    measure_storage_in(settings, record);
}

}  // namespace sluice

// Which parameters does ZeRO-3 copy to the device when a module is called, and which does it drop
// after it?
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

/// What the coordinator of deepspeed 0.19.8 keeps to, in elements of parameters.
struct FetchLimits {
    std::int64_t prefetch_bucket = 50'000'000;     ///< stage3_prefetch_bucket_size
    std::int64_t live = 1'000'000'000;             ///< stage3_max_live_parameters
    std::int64_t reuse_distance = 1'000'000'000;   ///< stage3_max_reuse_distance
    std::int64_t persistence_threshold = 100'000;  ///< such a tensor stays on the device
};

/// Parameters on storage (ZeRO-Infinity). A read takes a buffer of host memory, which the parameter
/// holds until it is dropped from the device.
struct OnStorage {
    std::vector<bool> parameters;  ///< which of them; empty: none
    int buffers = 0;               ///< buffer_count of offload_param
};

/// Follows the modules of one step in the order in which they are called, forward, recomputed and
/// backward, with the trace of the step before known, as from the third step on.
class ParameterFetches {
  public:
    /// `elements` of each parameter; `calls`: the parameters that each call of a module uses, the
    /// whole step in order.
    ParameterFetches(std::vector<std::int64_t> elements, std::vector<std::vector<int>> calls,
                     FetchLimits limits = {}, OnStorage on_storage = {});

    /// Parameters by index. Each list is copied in one after another.
    struct Call {
        std::vector<int> read_first;  ///< of the missing ones, from storage
        std::vector<int> missing;     ///< copied in now, the module waits
        std::vector<int> prefetched;  ///< copied in while it runs
        std::vector<int> read_ahead;  ///< from storage, after those copies
        std::vector<int> released;    ///< when it has run
        bool missing_wait = false;    ///< for all reads under way
        bool prefetched_wait = false;
    };
    /// The next call. Precondition: not all were made.
    Call next();
    /// The next `calls` calls as if they were one.
    Call next(int calls);
    /// Whether a parameter was missing when no buffer was free: DeepSpeed stops there.
    bool out_of_buffers() const { return out_of_buffers_; }
    std::size_t calls() const { return calls_.size(); }

  private:
    enum class Place : std::uint8_t { storage, under_way, buffer };
    struct Use {
        int parameter;
        std::ptrdiff_t call;
    };
    std::vector<int> fetch_missing(const std::vector<int>& used);
    void take_from_queue(const std::vector<int>& used);
    std::vector<int> prefetch();
    std::vector<int> read_missing(const std::vector<int>& missing);
    std::vector<int> read_ahead();
    void take_buffer(int parameter);
    bool wait_for_reads(const std::vector<int>& parameters);
    std::vector<int> release(const std::vector<int>& used);
    void move_reuse_window();
    void bring(int parameter);
    void set_unused(int parameter, bool unused);

    std::vector<std::int64_t> elements_;
    std::vector<std::vector<int>> calls_;
    FetchLimits limits_;
    std::vector<Use> queue_;                   ///< uses in order
    std::size_t queued_ = 0;                   ///< the next one to prefetch
    std::ptrdiff_t call_ = 0;                  ///< the next one to make
    std::vector<std::ptrdiff_t> fetched_for_;  ///< the last call that a parameter was fetched for
    std::vector<bool> there_;
    std::int64_t live_ = 0;
    std::vector<Place> places_;
    std::vector<int> under_way_;  ///< from storage
    std::vector<bool> on_storage_;
    std::vector<bool> unused_yet_;      ///< prefetched, and no module has used it since
    std::int64_t unused_elements_ = 0;  ///< of those
    std::ptrdiff_t window_begin_ = 0, window_end_ = 0;  ///< the calls that count as soon
    std::int64_t window_elements_ = 0;
    std::vector<int> uses_in_window_;  ///< of each parameter
    int free_buffers_;
    bool out_of_buffers_ = false;
};

}  // namespace sluice

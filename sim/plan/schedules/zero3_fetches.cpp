#include <algorithm>
#include <utility>

#include "sim/plan/schedules/zero3.h"

namespace sluice {
namespace {

// Modules of a plain layer without parameters to fetch: the layer and its norms. (Transformers'
// models have four more: attention, feed-forward and its activation, rotary embedding.)
constexpr int kEmptyModules = 3;

std::size_t at(std::ptrdiff_t index) { return static_cast<std::size_t>(index); }

}  // namespace

ParameterFetches::ParameterFetches(std::vector<std::int64_t> elements,
                                   std::vector<std::vector<int>> calls, FetchLimits limits,
                                   OnStorage on_storage)
    : elements_(std::move(elements)),
      calls_(std::move(calls)),
      limits_(limits),
      fetched_for_(elements_.size(), -1),
      there_(elements_.size(), false),
      places_(elements_.size(), Place::buffer),
      on_storage_(std::move(on_storage.parameters)),
      buffers_of_(std::move(on_storage.buffers_of)),
      unused_yet_(elements_.size(), false),
      uses_in_window_(elements_.size(), 0),
      free_buffers_(on_storage.buffers) {
    on_storage_.resize(elements_.size(), false);
    buffers_of_.resize(elements_.size(), 1);
    for (std::size_t i = 0; i < elements_.size(); ++i)
        if (on_storage_[i]) places_[i] = Place::storage;
    for (std::size_t call = 0; call < calls_.size(); ++call)
        for (const int parameter : calls_[call])
            queue_.push_back({parameter, static_cast<std::ptrdiff_t>(call)});
}

ParameterFetches::Call ParameterFetches::next() {
    const std::vector<int>& used = calls_[at(call_)];
    Call call;
    call.missing = fetch_missing(used);
    call.read_first = read_missing(call.missing);
    call.missing_wait = wait_for_reads(call.missing);
    for (const int parameter : used) set_unused(parameter, false);
    take_from_queue(used);
    call.prefetched = prefetch();
    call.prefetched_wait = wait_for_reads(call.prefetched);
    call.read_ahead = read_ahead();
    ++call_;
    call.released = release(used);
    return call;
}

void ParameterFetches::bring(int parameter) {
    there_[at(parameter)] = true;
    live_ += elements_[at(parameter)];
}

void ParameterFetches::set_unused(int parameter, bool unused) {
    if (unused_yet_[at(parameter)] == unused) return;
    unused_yet_[at(parameter)] = unused;
    unused_elements_ += (unused ? 1 : -1) * elements_[at(parameter)];
}

std::vector<int> ParameterFetches::fetch_missing(const std::vector<int>& used) {
    std::vector<int> missing;
    for (const int parameter : used) {
        if (there_[at(parameter)]) continue;
        bring(parameter);
        missing.push_back(parameter);
    }
    return missing;
}

/// Uses of this call that no prefetch has passed yet are next in the queue.
void ParameterFetches::take_from_queue(const std::vector<int>& used) {
    const auto waiting = std::count_if(used.begin(), used.end(), [this](int parameter) {
        return fetched_for_[at(parameter)] < call_;
    });
    for (std::ptrdiff_t i = 0; i < waiting && queued_ < queue_.size(); ++i) {
        const Use& use = queue_[queued_++];
        fetched_for_[at(use.parameter)] = use.call;
    }
}

/// Skips uses of parameters that are on the device: their next use counts as prefetched.
std::vector<int> ParameterFetches::prefetch() {
    const std::int64_t most = std::min(limits_.live - live_, limits_.prefetch_bucket);
    std::vector<int> prefetched;
    std::int64_t elements = 0;
    while (queued_ < queue_.size() && elements < most) {
        const Use& use = queue_[queued_];
        if (places_[at(use.parameter)] == Place::storage) break;  // keeps their order
        ++queued_;
        auto& fetched_for = fetched_for_[at(use.parameter)];
        fetched_for = std::max(fetched_for, use.call);
        if (there_[at(use.parameter)]) continue;
        bring(use.parameter);
        elements += elements_[at(use.parameter)];
        set_unused(use.parameter, true);
        prefetched.push_back(use.parameter);
    }
    return prefetched;
}

void ParameterFetches::take_buffer(int parameter) {
    places_[at(parameter)] = Place::under_way;
    under_way_.push_back(parameter);
    free_buffers_ -= buffers_of_[at(parameter)];
    if (free_buffers_ < 0) out_of_buffers_ = true;
}

std::vector<int> ParameterFetches::read_missing(const std::vector<int>& missing) {
    std::vector<int> read;
    for (const int parameter : missing) {
        if (places_[at(parameter)] != Place::storage) continue;
        take_buffer(parameter);
        read.push_back(parameter);
    }
    return read;
}

/// Whether some of them are being read; then the module waits for all reads in flight.
bool ParameterFetches::wait_for_reads(const std::vector<int>& parameters) {
    const bool waits = std::any_of(parameters.begin(), parameters.end(), [this](int parameter) {
        return places_[at(parameter)] == Place::under_way;
    });
    if (!waits) return false;
    for (const int parameter : under_way_) places_[at(parameter)] = Place::buffer;
    under_way_.clear();
    return true;
}

/// The next uses that together have at most twice the elements that are prefetched and not used
/// yet, and that find a free buffer.
std::vector<int> ParameterFetches::read_ahead() {
    const std::int64_t most = 2 * unused_elements_;
    std::vector<int> read;
    std::int64_t passed = 0;
    for (std::size_t use = queued_; use < queue_.size(); ++use) {
        const int parameter = queue_[use].parameter;
        if (passed > most || free_buffers_ < buffers_of_[at(parameter)]) break;
        passed += elements_[at(parameter)];
        if (places_[at(parameter)] != Place::storage) continue;
        take_buffer(parameter);
        read.push_back(parameter);
    }
    return read;
}

/// The window holds the next calls with `reuse_distance` elements together; calls leave it after
/// they were made.
void ParameterFetches::move_reuse_window() {
    const auto count = [this](std::ptrdiff_t call, int change) {
        for (const int parameter : calls_[at(call)]) {
            uses_in_window_[at(parameter)] += change;
            window_elements_ += change * elements_[at(parameter)];
        }
    };
    for (; window_begin_ < call_; ++window_begin_) {
        if (window_begin_ < window_end_) count(window_begin_, -1);
    }
    window_end_ = std::max(window_end_, window_begin_);
    while (at(window_end_) < calls_.size() && window_elements_ < limits_.reuse_distance)
        count(window_end_++, 1);
}

std::vector<int> ParameterFetches::release(const std::vector<int>& used) {
    if (used.empty()) return {};
    move_reuse_window();
    std::vector<int> released;
    for (const int parameter : used) {
        if (uses_in_window_[at(parameter)] > 0 || fetched_for_[at(parameter)] > call_ ||
            !there_[at(parameter)])
            continue;
        there_[at(parameter)] = false;
        live_ -= elements_[at(parameter)];
        if (on_storage_[at(parameter)]) {
            places_[at(parameter)] = Place::storage;
            free_buffers_ += buffers_of_[at(parameter)];
        }
        released.push_back(parameter);
    }
    return released;
}

Zero3Modules::Zero3Modules(const ModelSpec& model) : layers_(model.layer_count()) {
    double passed = 0;
    const auto number = [&](std::int64_t elements, std::int64_t tensors = 1) {
        elements_.push_back(elements * tensors);
        tensors_.push_back(static_cast<int>(tensors));
        elements_before_.push_back(passed);
        return static_cast<int>(elements_.size()) - 1;
    };
    number(embedding_parameters(model));
    passed += static_cast<double>(elements_.back());
    for (int layer = 0; layer < layers_; ++layer) {
        Parameters& own = of_layer_.emplace_back();
        bool has_experts = false;
        for (const ParameterTensor& tensor : layer_tensors(model, model.layer(layer)))
            for (const std::int64_t rows : tensor.rows_of_parts()) {
                const std::int64_t elements = rows * tensor.columns;
                const bool of_expert = tensor.count > 1;
                if (elements > FetchLimits{}.persistence_threshold) {
                    if (of_expert && has_experts) {
                        elements_.back() += elements * tensor.count;
                        tensors_.back() += static_cast<int>(tensor.count);
                    } else {
                        own.push_back(number(elements, tensor.count));
                    }
                    has_experts = of_expert;
                }
                passed += static_cast<double>(elements * tensor.count);
            }
    }
    if (!model.tied_embeddings) head_ = number(model.vocabulary * model.hidden);
}

int Zero3Modules::calls_of(int layer) const {
    return kEmptyModules + static_cast<int>(of_layer(layer).size());
}

std::vector<Zero3Modules::Parameters> Zero3Modules::layer_calls(int layer) const {
    std::vector<Parameters> calls(kEmptyModules);
    for (const int parameter : of_layer(layer)) calls.push_back({parameter});
    return calls;
}

std::vector<Zero3Modules::Parameters> Zero3Modules::step_calls(bool recomputed) const {
    std::vector<Parameters> calls = {{}, {0}};
    const auto append = [&calls](const std::vector<Parameters>& more) {
        calls.insert(calls.end(), more.begin(), more.end());
    };
    for (int layer = 0; layer < layers_; ++layer) append(layer_calls(layer));
    append({{}, {head_}});
    append({{}, {head_}, {}});
    for (int layer = layers_ - 1; layer >= 0; --layer) {
        std::vector<Parameters> own = layer_calls(layer);
        if (recomputed) append(own);
        std::reverse(own.begin(), own.end());
        append(own);
    }
    append({{0}});
    return calls;
}

}  // namespace sluice

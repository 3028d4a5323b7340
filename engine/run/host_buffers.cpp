#include "engine/run/host_buffers.h"

#include <algorithm>

#include "engine/run/embedding_rows.h"
#include "sim/plan/schedules/schedules.h"
#include "sim/plan/schedules/streamed.h"

namespace sluice {
namespace {

/// Offsets of parts, one after another, each at a multiple of a page.
class Parts {
  public:
    Bytes add(Bytes bytes) {
        const Bytes here = end_;
        end_ += (bytes + kPage - 1) / kPage * kPage;
        return here;
    }
    Bytes end() const { return end_; }

  private:
    static constexpr Bytes kPage = 4096;
    Bytes end_ = 0;
};

/// Where each section's gradients go: a place of its own where clipping needs all of them at once,
/// else slabs in turn.
std::vector<Bytes> place_gradients(const TrainingSpec& training, const HostModel& host,
                                   const ModelSpec& model, Parts& parts) {
    std::vector<Bytes> places;
    const bool hold = training.clipping == Clipping::exact;
    const auto slabs = static_cast<std::size_t>(host_gradient_slabs(training));
    Bytes largest = 0;
    for (int layer = 0; layer < host.layers(); ++layer)
        largest = std::max(largest, kBf16 * host.block(layer).count);
    for (int layer = 0; layer < host.layers(); ++layer) {
        const auto before = static_cast<std::size_t>(layer);
        places.push_back(hold || before < slabs ? parts.add(largest) : places[before - slabs]);
    }
    // The device's head has an output projection even where it is the embedding.
    places.push_back(parts.add(kBf16 * HeadLoss(model, 1).elements()));
    return places;
}

}  // namespace

HostBuffers::HostBuffers(const ModelSpec& model, const TrainingSpec& training,
                         const HostModel& host, ThreadPool& pool, Device& device, DType activations)
    : tokens_(training.tokens()), hidden_(model.hidden), type_(activations) {
    const Bytes row_bytes = tokens_ * hidden_ * bytes_of(type_);
    Parts parts;
    rows_in_ = parts.add(row_bytes);
    rows_out_ = parts.add(row_bytes);
    targets_ = parts.add(tokens_ * static_cast<Bytes>(sizeof(std::int32_t)));
    gradients_ = place_gradients(training, host, model, parts);
    sums_ = parts.add(host.sections() * static_cast<Bytes>(sizeof(DeviceSums)));
    if (host_checkpoints(training)) checkpoints_ = parts.add((host.layers() - 1) * row_bytes);
    pinned_ = HostRegion(parts.end(), "buffers of the link", pool, &device);
    row_sums_ = HostRegion(EmbeddingRows::sum_elements(model.vocabulary, hidden_, tokens_) * kFp32,
                           "gradients of embedding rows", pool);
}

Matrix HostBuffers::checkpoint(int layer) const {
    if (layer == 0) return rows_in();
    return rows(checkpoints_ + (layer - 1) * tokens_ * hidden_ * bytes_of(type_));
}

}  // namespace sluice

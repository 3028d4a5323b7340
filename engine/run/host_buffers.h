// Host memory that the link reads and writes in a step: token rows, gradients, checkpoints.
#pragma once

#include <vector>

#include "engine/memory/host_model.h"
#include "engine/run/device_buffers.h"

namespace sluice {

class HostBuffers {
  public:
    HostBuffers(const ModelSpec& model, const TrainingSpec& training, const HostModel& host,
                ThreadPool& pool, Device& device, DType activations);

    Matrix rows_in() const { return rows(rows_in_); }    ///< (tokens, hidden) of the embedding
    Matrix rows_out() const { return rows(rows_out_); }  ///< their gradients
    std::int32_t* targets() const { return pinned_.at<std::int32_t>(targets_); }
    /// A layer's or the head's gradients, laid out as its weights, bf16.
    std::uint16_t* gradients(int section) const {
        return pinned_.at<std::uint16_t>(gradients_[static_cast<std::size_t>(section)]);
    }
    /// What the device had summed when a section's gradients left (HostModel's sections).
    DeviceSums* sums(int section) const { return pinned_.at<DeviceSums>(sums_) + section; }
    /// A layer's input on the host. Layer 0's is rows_in().
    Matrix checkpoint(int layer) const;
    float* row_sums() const { return row_sums_.at<float>(0); }

  private:
    Matrix rows(Bytes offset) const { return {pinned_.data() + offset, type_, tokens_, hidden_}; }

    std::int64_t tokens_, hidden_;
    DType type_;
    HostRegion pinned_, row_sums_;
    Bytes rows_in_ = 0, rows_out_ = 0, targets_ = 0, sums_ = 0, checkpoints_ = 0;
    std::vector<Bytes> gradients_;
};

}  // namespace sluice

#include "calibrate/cases/operand_sets.h"

#include <algorithm>

namespace sluice {
namespace {

// Kernels choose an algorithm by alignment too; that of tensors in training is 256 or more.
constexpr Bytes kAlignment = 4096;

Bytes aligned(Bytes bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

Zone input_zone(const Bench& bench) { return {0, aligned(bench.arena_bytes / 2)}; }

Zone output_zone(const Bench& bench) {
    const Bytes begin = input_zone(bench).bytes;
    return {begin, bench.arena_bytes - begin};
}

Bytes rotated_bytes(const Bench& bench) { return (bench.device_facts.is_gpu ? 256 : 32) * kMiB; }

OperandSets::OperandSets(const Bench& bench, Zone zone, const std::vector<Bytes>& sizes) {
    for (const Bytes size : sizes) {
        offsets_.push_back(set_bytes_);
        set_bytes_ += aligned(size);
    }
    begin_ = bench.at(zone.begin, zone.bytes);
    if (set_bytes_ == 0) {
        sets_ = 1;
        return;
    }
    const std::int64_t wanted = (rotated_bytes(bench) + set_bytes_ - 1) / set_bytes_;
    sets_ = std::min(std::max<std::int64_t>(1, wanted), zone.bytes / set_bytes_);
}

char* OperandSets::at(std::int64_t call, std::size_t which) const {
    return begin_ + call % sets_ * set_bytes_ + offsets_[which];
}

}  // namespace sluice

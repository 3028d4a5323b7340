#include "sim/answers/predict/tight_buffers.h"

#include "sim/plan/sizes.h"

namespace sluice {

std::vector<TrainingSpec> tighter_buffers(const TrainingSpec& asked,
                                          const std::set<std::string>& fixed) {
    constexpr std::int64_t kLossChunk = 1024, kHostSlabs = 2;
    std::vector<TrainingSpec> out;
    if (!has_option(asked.schedule, "resident_layers")) return out;
    TrainingSpec next = asked;
    const auto lower = [&](const char* field, std::int64_t TrainingSpec::*member, std::int64_t now,
                           std::int64_t to) {
        if (fixed.contains(field) || now <= to) return;
        next.*member = to;
        out.push_back(next);
    };
    using T = TrainingSpec;
    lower("loss_chunk_tokens", &T::loss_chunk_tokens, asked.loss_chunk_tokens, kLossChunk);
    lower("host_gradient_slabs", &T::host_gradient_slabs, host_gradient_slabs(asked), kHostSlabs);
    lower("gradient_slabs", &T::gradient_slabs, asked.gradient_slabs, 1);
    lower("buffer_depth", &T::buffer_depth, asked.buffer_depth, 1);
    return out;
}

}  // namespace sluice

// Which host memory does AdamW read and write for one parameter, in a whole update and in its two
// parts?
#pragma once

#include "sim/plan/step_program.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {

struct AdamPart {
    double read = 0, written = 0;  ///< bytes a parameter

    double bytes() const { return read + written; }
    /// In bytes that are read. A written one takes 0.6 of the time of one that is read: with 12 and
    /// 16 threads of a Xeon with 16 CPUs the parts' rates over that of the whole are then off by at
    /// most 4% with 12 bytes of state. With 8, that of the parameters is 7 and 13% too high
    /// (`engine/measurements/adam-parts.txt`).
    double cost() const { return read + 0.6 * written; }
};

/// Precondition: `work` is a kind of AdamW's with bf16 gradients.
inline AdamPart adam_part(HostWork work, std::int64_t state_bytes) {
    const double written = static_cast<double>(state_bytes),
                 moments = 2.0 * state_precision(state_bytes).moment_bytes;
    const AdamPart whole = {adam_traffic(state_bytes) - written, written};
    if (work == HostWork::adam_parameters) return {whole.read, written - moments};
    if (work == HostWork::adam_moments) return {kBf16 + moments, moments};
    return whole;
}

/// Bytes/s of a part over those of the whole update.
inline double adam_part_rate(HostWork work, std::int64_t state_bytes) {
    const AdamPart part = adam_part(work, state_bytes),
                   whole = adam_part(HostWork::adam, state_bytes);
    return part.bytes() / part.cost() / (whole.bytes() / whole.cost());
}

}  // namespace sluice

// Which workspace does a call of attention need? A call as the plan counts it; no .cu file includes
// this.
#pragma once

#include "engine/kernels/kernels.h"
#include "sim/specs/model/attention_workspace.h"

namespace sluice {

inline AttentionBatch batch_of(const AttentionShape& shape, const Documents& documents = {}) {
    return {shape.sequences, shape.sequence, shape.heads,
            shape.kv_heads,  shape.head_dim, documents.present()};
}

}  // namespace sluice

// Weights in NF4 (QLoRA, arXiv 2305.14314), of frozen layers alone: vectors in bf16, then matrices,
// whose linear layers are coded apart. Each product has its matrix decoded to bf16 before it.
#include "sim/specs/model/forms/nf4_parts.h"
#include "sim/specs/model/weight_form.h"

namespace sluice {

WeightForm nf4_weights() {
    return {Form::nf4,
            "nf4",
            "weights in NF4",
            [](const ModelSpec& model, const LayerSpec& layer) {
                return coded_layer_bytes(model, layer, 0, [](const ParameterTensor& matrix) {
                    std::int64_t bytes = 0;
                    for (const std::int64_t rows : matrix.rows_of_parts())
                        bytes += Nf4Parts(rows * matrix.columns).end;
                    return bytes * matrix.count;
                });
            },
            WeightCodes::decoded,
            false,
            kNf4Bytes};
}

}  // namespace sluice

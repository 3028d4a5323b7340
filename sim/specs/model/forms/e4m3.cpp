// Codes of FP8 alone, in e4m3: a scale of 16 bytes for each product and vectors in bf16, then codes
// of matrices.
#include "sim/specs/model/weight_form.h"

namespace sluice {

WeightForm e4m3_weights() {
    return {Form::e4m3,
            "fp8",
            "weights in FP8",
            [](const ModelSpec& model, const LayerSpec& layer) {
                constexpr std::int64_t kScales = 4 * 16;
                return coded_layer_bytes(model, layer, kScales, [](const ParameterTensor& matrix) {
                    return matrix.elements();
                });
            },
            WeightCodes::arrive,
            true};
}

}  // namespace sluice

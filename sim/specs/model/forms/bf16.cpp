// Weights in bf16, the high half of the masters where these are trained. Products in FP8 cast them.
#include "sim/specs/model/weight_form.h"

namespace sluice {

WeightForm bf16_weights() {
    return {Form::bf16, "bf16", "weights in bf16",
            [](const ModelSpec& model, const LayerSpec& layer) {
                return static_cast<double>(kBf16 * layer_parameters(model, layer));
            },
            WeightCodes::first};
}

}  // namespace sluice

#include "sim/specs/model/weight_form.h"

#include <algorithm>

namespace sluice {

#define SLUICE_DECLARE_FORM(name) WeightForm name##_weights();
SLUICE_WEIGHT_FORMS(SLUICE_DECLARE_FORM)
#undef SLUICE_DECLARE_FORM

const std::vector<WeightForm>& weight_forms() {
#define SLUICE_WEIGHT_FORM(name) name##_weights(),
    static const std::vector<WeightForm> kForms = {SLUICE_WEIGHT_FORMS(SLUICE_WEIGHT_FORM)};
#undef SLUICE_WEIGHT_FORM
    return kForms;
}

const WeightForm& weight_form(Form form) { return weight_forms()[static_cast<std::size_t>(form)]; }

double coded_layer_bytes(const ModelSpec& model, const LayerSpec& layer, std::int64_t before,
                         std::int64_t (*bytes_of)(const ParameterTensor& matrix)) {
    constexpr std::int64_t kAligned = 256;
    const auto aligned = [](std::int64_t bytes) {
        return (bytes + kAligned - 1) / kAligned * kAligned;
    };
    std::int64_t codes = 0;
    for (const ParameterTensor& tensor : layer_tensors(model, layer))
        if (tensor.columns == 1)
            before += kBf16 * tensor.elements();
        else
            codes += aligned(bytes_of(tensor));
    return static_cast<double>(aligned(before) + codes);
}

double decoded_bytes(const ModelSpec& model, Form form) {
    std::int64_t largest = 0;
    if (weight_form(form).decoded_from > 0)
        for (const LayerSpec& layer : model.kinds)
            for (const ParameterTensor& tensor : layer_tensors(model, layer))
                if (tensor.columns > 1)
                    largest = std::max(largest, kBf16 * tensor.rows * tensor.columns);
    return static_cast<double>(largest);
}

}  // namespace sluice

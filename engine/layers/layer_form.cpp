#include "engine/layers/layer_form.h"

#include <algorithm>
#include <vector>

namespace sluice {

#define SLUICE_DECLARE_FORM(name) LayerForm name##_layer();
SLUICE_WEIGHT_FORMS(SLUICE_DECLARE_FORM)
#undef SLUICE_DECLARE_FORM

const LayerForm& layer_form(Form form) {
#define SLUICE_LAYER_FORM(name) name##_layer(),
    static const std::vector<LayerForm> kForms = {SLUICE_WEIGHT_FORMS(SLUICE_LAYER_FORM)};
#undef SLUICE_LAYER_FORM
    return kForms[static_cast<std::size_t>(form)];
}

LayerLayout layer_layout(const ModelSpec& model, const LayerSpec& layer, Form form) {
    return layer_form(form).layout(layer_layout(model, layer));
}

PieceOfTensor::PieceOfTensor(const TensorPlace& tensor, std::int64_t begin_, std::int64_t end)
    : begin(std::max(begin_, tensor.offset) - tensor.offset),
      count(std::min(end, tensor.offset + tensor.elements()) - tensor.offset - begin) {}

void copy_vectors(const BlockOfLayer& of, std::int64_t begin, std::int64_t end) {
    for (const auto vector : kVectors) {
        const PieceOfTensor piece(of.from.*vector, begin, end);
        if (piece.count <= 0) continue;
        auto* const copy =
            static_cast<std::uint16_t*>(vector_at(of.block, DType::bf16, of.to.*vector).data);
        std::copy_n(of.weights + (of.from.*vector).offset + piece.begin, piece.count,
                    copy + piece.begin);
    }
}

}  // namespace sluice

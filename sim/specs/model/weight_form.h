// In which forms are the weights of a layer stored, and what does each mean for a plan? Each file
// of the folder forms is one form. How the trainer writes and reads it is in
// engine/layers/forms.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/specs/model/layer_kernels.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {

/// The forms of weights. A form is its file, which defines `WeightForm NAME_weights()`, the file of
/// its name in engine/layers/forms, and its row here.
#define SLUICE_WEIGHT_FORMS(row) row(bf16) row(e4m3) row(nf4)

/// The form of the numbers of a tensor: those of weights, fp32, and 8-bit codes of activations.
enum class Form : std::uint8_t {
#define SLUICE_FORM(name) name,
    SLUICE_WEIGHT_FORMS(SLUICE_FORM)
#undef SLUICE_FORM
        fp32,
    codes_8_bit
};

struct WeightForm {
    Form form;
    const char* name;     ///< in options
    const char* weights;  ///< the name of their buffer on the host
    /// All tensors of a layer, as they lie in memory and are copied.
    double (*layer_bytes)(const ModelSpec& model, const LayerSpec& layer);
    /// How products in FP8 come by its codes.
    WeightCodes codes;
    /// Products read it only in this form of theirs; else in each.
    bool for_fp8_only = false;
    /// Bytes a weight that are read to make bf16 of a matrix before each of its products; 0: these
    /// read the form.
    double decoded_from = 0;
};

/// In the order of their rows, which is that of `Form`.
const std::vector<WeightForm>& weight_forms();
/// Precondition: it is one of weights.
const WeightForm& weight_form(Form form);

/// Vectors in bf16 behind `before` bytes, each aligned to 16; then matrices, each aligned as parts
/// of buffers are, of `bytes_of` bytes each: the layout of forms that are not bf16.
double coded_layer_bytes(const ModelSpec& model, const LayerSpec& layer, std::int64_t before,
                         std::int64_t (*bytes_of)(const ParameterTensor& matrix));

/// Memory for the largest matrix of a layer in bf16, if a form is decoded to it.
double decoded_bytes(const ModelSpec& model, Form form);

}  // namespace sluice

#include "engine/layers/head_loss.h"

#include <algorithm>

#include "engine/layers/linear.h"

namespace sluice {

HeadLoss::HeadLoss(const ModelSpec& model, std::int64_t chunk_tokens)
    : chunk_(chunk_tokens), epsilon_(static_cast<float>(model.norm_epsilon)) {
    ModelSpec untied = model;
    untied.tied_embeddings = false;
    const HeadLayout layout = head_layout(untied);
    projection_ = layout.projection;
    norm_ = layout.norm;
}

void HeadLoss::run(Kernels& kernels, HeadWeights weights, Matrix hidden,
                   const std::int32_t* targets, float scale, double* loss, GradientTarget target,
                   Workspace workspace, Workspace operands) const {
    const Matrix projection{weights.projection, DType::bf16, projection_.rows, projection_.columns};
    const Operand for_gradient = cast_columns_once(kernels, operands, {projection});
    const Vector norm{weights.norm, DType::bf16, norm_.rows};
    const std::int64_t chunk = std::min(chunk_, hidden.rows);
    const Matrix logits_memory = workspace.matrix(hidden.type, chunk, projection_.rows);
    const Matrix normed_memory = workspace.matrix(hidden.type, chunk, hidden.columns);
    Fp8Scale* const scale_of_normed =
        operands.present() ? static_cast<Fp8Scale*>(operands.take(sizeof(Fp8Scale))) : nullptr;
    for (std::int64_t begin = 0; begin < hidden.rows; begin += chunk) {
        const std::int64_t rows = std::min(chunk, hidden.rows - begin);
        const Matrix x = hidden.row_range(begin, rows);
        const Matrix logits = logits_memory.row_range(0, rows);
        const Matrix normed = normed_memory.row_range(0, rows);
        const bool add = target.accumulate || begin > 0;
        kernels.rms_norm(normed, x, norm, epsilon_, scale_of_normed);
        linear(kernels, {}, {.y = logits, .x = {normed}, .weight = {projection}});
        kernels.cross_entropy(logits, targets + begin, scale, loss);
        LinearBackward back(kernels, operands, {logits}, {}, !target.present());
        back.weight(target.matrix(projection_), {normed, scale_of_normed}, add);
        back.input(normed, for_gradient);
        kernels.rms_norm_backward(x, false, normed, x, norm, epsilon_, target.vector(norm_), add);
    }
}

}  // namespace sluice

#include "engine/layers/head_loss.h"

#include <algorithm>

namespace sluice {

HeadLoss::HeadLoss(const ModelSpec& model, std::int64_t chunk_tokens)
    : chunk_(chunk_tokens), epsilon_(static_cast<float>(model.norm_epsilon)) {
    ModelSpec untied = model;
    untied.tied_embeddings = false;
    const HeadLayout layout = head_layout(untied);
    projection_ = layout.projection;
    norm_ = layout.norm;
}

void HeadLoss::run(Kernels& kernels, void* head, Matrix hidden, const std::int32_t* targets,
                   float scale, double* loss, GradientTarget target, Workspace workspace) const {
    const Matrix projection = matrix_at(head, DType::bf16, projection_);
    const Vector norm = vector_at(head, DType::bf16, norm_);
    const std::int64_t chunk = std::min(chunk_, hidden.rows);
    const Matrix logits_memory = workspace.matrix(hidden.type, chunk, projection_.rows);
    const Matrix normed_memory = workspace.matrix(hidden.type, chunk, hidden.columns);
    for (std::int64_t begin = 0; begin < hidden.rows; begin += chunk) {
        const std::int64_t rows = std::min(chunk, hidden.rows - begin);
        const Matrix x = hidden.row_range(begin, rows);
        const Matrix logits = logits_memory.row_range(0, rows);
        const Matrix normed = normed_memory.row_range(0, rows);
        const bool add = target.accumulate || begin > 0;
        kernels.rms_norm(normed, x, norm, epsilon_);
        kernels.gemm({.d = logits, .a = normed, .b = projection, .transpose_b = Transpose::yes});
        kernels.cross_entropy(logits, targets + begin, scale, loss);
        kernels.gemm({.d = target.matrix(projection_),
                      .a = logits,
                      .b = normed,
                      .transpose_a = Transpose::yes,
                      .accumulate = add});
        kernels.gemm({.d = normed, .a = logits, .b = projection});
        kernels.rms_norm_backward(x, false, normed, x, norm, epsilon_, target.vector(norm_), add);
    }
}

}  // namespace sluice

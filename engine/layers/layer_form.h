// How does the trainer write a layer's weights in a form of weight_form.h, and how do products read
// them? Each file of the folder forms is one form.
#pragma once

#include <memory>

#include "engine/layers/layer_layout.h"
#include "engine/layers/linear.h"
#include "engine/layers/workspace.h"
#include "engine/optimizer/thread_pool.h"
#include "sim/specs/model/weight_form.h"

namespace sluice {

/// A layer's weights on the device, as a pass gets them.
struct LayerWeights {
    LayerWeights(void* block_, Form form_ = Form::bf16, Workspace memory_ = {},
                 bool keeps_codes_ = false, bool first_ = true)
        : block(block_), form(form_), memory(memory_), keeps_codes(keeps_codes_), first(first_) {}
    void* block;  ///< all tensors, laid out by LayerForm::layout
    Form form;
    /// For what products read in place of the form: of bf16 in FP8 scales, and codes if they are
    /// kept; without, each cast finds a scale of its own.
    Workspace memory;
    bool keeps_codes;  ///< in both orders
    bool first;        ///< this pass is the first with these weights: it writes scales and codes
    Vector vector(const TensorPlace& place) const { return vector_at(block, DType::bf16, place); }
};

/// Makes a layer's block of its weights in bf16 while these are written.
class BlockWriter {
  public:
    BlockWriter() = default;
    BlockWriter(const BlockWriter&) = delete;
    BlockWriter& operator=(const BlockWriter&) = delete;
    virtual ~BlockWriter() = default;
    /// The weights [begin, end) of the layer are there. Called on any thread of the pool.
    virtual void after(std::int64_t begin, std::int64_t end) = 0;
    /// All are there, and after() was called for each.
    virtual void finish() = 0;
};

/// Where weights are in bf16 and where their block is, which holds zeros or what was written last.
struct BlockOfLayer {
    const std::uint16_t* weights;
    const LayerLayout &from, &to;
    char* block;
    ThreadPool& pool;
};

struct LayerForm {
    /// Offsets of vectors are in elements of bf16, of matrices in those of the form; size is in
    /// bytes.
    LayerLayout (*layout)(const LayerLayout& bf16);
    /// The one of kCodedMatrices with that index, whose place in the form's layout is given. Called
    /// once a pass, in their order.
    Operand (*matrix)(LayerWeights& weights, const TensorPlace& place, std::size_t index);
    /// Null: the block is the weights.
    std::unique_ptr<BlockWriter> (*writer)(const BlockOfLayer& of) = nullptr;
};

const LayerForm& layer_form(Form form);
LayerLayout layer_layout(const ModelSpec& model, const LayerSpec& layer, Form form);

/// The part of the elements [begin, end) of a layer that is in the tensor, counted from its first.
struct PieceOfTensor {
    PieceOfTensor(const TensorPlace& tensor, std::int64_t begin, std::int64_t end);
    std::int64_t begin, count;
};
/// Copies what is in [begin, end) of the vectors, which all forms have in bf16.
void copy_vectors(const BlockOfLayer& of, std::int64_t begin, std::int64_t end);

}  // namespace sluice

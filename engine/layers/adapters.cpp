#include "engine/layers/adapters.h"

namespace sluice {

AdapterLayout adapter_layout(const ModelSpec& model, const LayerSpec& layer, std::int64_t rank) {
    AdapterLayout out;
    out.rank = rank;
    const AttentionSpec& a = layer.attention;
    const std::int64_t hidden = model.hidden, width = layer.feed_forward.intermediate;
    const auto place = [&](std::int64_t rows, std::int64_t columns) {
        const TensorPlace here{out.size, rows, columns};
        out.size += here.elements();
        return here;
    };
    const auto adapt = [&](std::int64_t columns, std::array<std::int64_t, kMostModules> rows) {
        MatrixAdapters matrix;
        std::int64_t modules = 0;
        for (const std::int64_t of_module : rows) modules += of_module > 0 ? 1 : 0;
        matrix.a = place(modules * rank, columns);
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (rows[i] > 0) matrix.b[i] = place(rows[i], rank);
        return matrix;
    };
    out.qkv = adapt(hidden, {a.query_width(), a.key_width(), a.key_width()});
    out.output = adapt(a.output_width(), {hidden});
    out.gate_up = adapt(hidden, {width, width});
    out.down = adapt(width, {hidden});
    return out;
}

std::vector<std::int64_t> adapter_begins(const ModelSpec& model, std::int64_t rank) {
    std::vector<std::int64_t> out = {0};
    for (int layer = 0; layer < model.layer_count(); ++layer)
        out.push_back(out.back() + adapter_layout(model, model.layer(layer), rank).size);
    return out;
}

Matrix take_adapted(Workspace& memory, const MatrixAdapters& of, std::int64_t tokens, DType type) {
    return memory.matrix(type, tokens, of.a.rows);
}

Workspace LayerAdapters::take_memory(Workspace& workspace, std::int64_t tokens, DType type) const {
    if (!present()) return {};
    constexpr int kTensors = 2;  // what A makes of x, and its gradient
    const std::int64_t columns = kMostModules * layout->rank;
    const Bytes each =
        (tokens * columns * bytes_of(type) + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
    return {workspace.take(kTensors * each), kTensors * each};
}

template <typename Use>
void ProductAdapters::each_module(const Matrix& y, Use use) const {
    std::int64_t begin = 0;
    for (int module = 0; module < kMostModules; ++module) {
        const std::int64_t rows = places_.b[static_cast<std::size_t>(module)].rows;
        if (rows == 0) continue;
        use(module, y.column_range(begin, rows));
        begin += rows;
    }
}

Matrix ProductAdapters::down(Kernels& kernels, Workspace& memory, Matrix x) const {
    const Matrix out = input_.present() ? input_ : take_adapted(memory, places_, x.rows, x.type);
    kernels.gemm({.d = out,
                  .a = x,
                  .b = weights(places_.a),
                  .transpose_b = Transpose::yes,
                  .alpha = of_.scale});
    return out;
}

void ProductAdapters::forward(Kernels& kernels, Matrix y, Matrix x, Matrix addend) {
    if (!present()) return;
    Workspace memory = memory_;
    const Matrix in = down(kernels, memory, x);
    std::int64_t begin = 0;
    each_module(y, [&](int module, const Matrix& part) {
        kernels.gemm(
            {.d = part,
             .a = of_module(in, module),
             .b = weights(places_.b[static_cast<std::size_t>(module)]),
             .transpose_b = Transpose::yes,
             .addend = addend.present() ? addend.column_range(begin, part.columns) : Matrix{}});
        begin += part.columns;
    });
}

void ProductAdapters::begin_backward(Kernels& kernels, Matrix dy) {
    if (!present()) return;
    dy_ = dy;
    gradient_ = take_adapted(memory_, places_, dy.rows, dy.type);
    each_module(dy, [&](int module, const Matrix& part) {
        kernels.gemm({.d = of_module(gradient_, module),
                      .a = part,
                      .b = weights(places_.b[static_cast<std::size_t>(module)]),
                      .alpha = of_.scale});
    });
}

void ProductAdapters::gradients(Kernels& kernels, Matrix x, bool accumulate) {
    if (!present()) return;
    Workspace memory = memory_;
    const Matrix in = input_.present() ? input_ : down(kernels, memory, x);
    each_module(dy_, [&](int module, const Matrix& part) {
        kernels.gemm({.d = of_.gradient.matrix(places_.b[static_cast<std::size_t>(module)]),
                      .a = part,
                      .b = of_module(in, module),
                      .transpose_a = Transpose::yes,
                      .accumulate = accumulate});
    });
    kernels.gemm({.d = of_.gradient.matrix(places_.a),
                  .a = gradient_,
                  .b = x,
                  .transpose_a = Transpose::yes,
                  .accumulate = accumulate});
}

void ProductAdapters::input(Kernels& kernels, Matrix dx) {
    if (present()) kernels.gemm({.d = dx, .a = gradient_, .b = weights(places_.a)});
}

}  // namespace sluice

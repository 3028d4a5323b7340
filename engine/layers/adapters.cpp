#include "engine/layers/adapters.h"

#include <algorithm>
#include <initializer_list>

namespace sluice {

bool MatrixAdapters::whole() const {
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i] > 0 && b[i].rows == 0) return false;
    return true;
}

AdapterLayout adapter_layout(const ModelSpec& model, const LayerSpec& layer,
                             const AdapterShape& adapters) {
    AdapterLayout out;
    out.rank = adapters.rank;
    const AttentionSpec& a = layer.attention;
    const std::int64_t hidden = model.hidden, width = layer.feed_forward.intermediate;
    const auto place = [&](std::int64_t rows, std::int64_t columns) {
        const TensorPlace here{out.size, rows, columns};
        out.size += here.elements();
        return here;
    };
    struct Module {
        AdapterTargets target;
        std::int64_t rows;
    };
    const auto adapt = [&](std::int64_t columns, std::initializer_list<Module> modules) {
        MatrixAdapters matrix;
        AdapterTargets all = 0;
        for (const Module& module : modules) all |= module.target;
        if (adapters.has(all)) matrix.a = place(adapters.count(all) * adapters.rank, columns);
        std::size_t i = 0;
        for (const Module& module : modules) {
            matrix.rows[i] = module.rows;
            if (adapters.has(module.target)) matrix.b[i] = place(module.rows, adapters.rank);
            ++i;
        }
        return matrix;
    };
    out.qkv =
        adapt(hidden, {{kQuery, a.query_width()}, {kKey, a.key_width()}, {kValue, a.key_width()}});
    out.output = adapt(a.output_width(), {{kOutput, hidden}});
    out.gate_up = adapt(hidden, {{kGate, width}, {kUp, width}});
    out.down = adapt(width, {{kDown, hidden}});
    return out;
}

std::vector<std::int64_t> adapter_begins(const ModelSpec& model, const AdapterShape& adapters) {
    std::vector<std::int64_t> out = {0};
    for (int layer = 0; layer < model.layer_count(); ++layer)
        out.push_back(out.back() + adapter_layout(model, model.layer(layer), adapters).size);
    return out;
}

Matrix take_adapted(Workspace& memory, const MatrixAdapters& of, std::int64_t tokens, DType type) {
    return of.present() ? memory.matrix(type, tokens, of.a.rows) : Matrix{};
}

Workspace LayerAdapters::take_memory(Workspace& workspace, std::int64_t tokens, DType type) const {
    if (!present()) return {};
    constexpr int kTensors = 2;  // what A makes of x, and its gradient
    const std::int64_t columns = kMostModules * layout->rank;
    const Bytes each =
        (tokens * columns * bytes_of(type) + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
    const auto input = [&](const MatrixAdapters& of) {
        return dropout.present() ? (tokens * of.a.columns * bytes_of(type) + kPartAlignment - 1) /
                                       kPartAlignment * kPartAlignment
                                 : 0;
    };
    const Bytes all = kTensors * each + std::max({input(layout->qkv), input(layout->output),
                                                  input(layout->gate_up), input(layout->down)});
    return {workspace.take(all), all};
}

template <typename Use>
void ProductAdapters::each_module(const Matrix& y, Use use) const {
    std::int64_t begin = 0;
    int nth = 0;
    for (std::size_t i = 0; i < places_.rows.size(); ++i) {
        const std::int64_t rows = places_.rows[i];
        if (places_.b[i].rows > 0)
            use(Module{nth++, places_.b[i], begin, y.column_range(begin, rows)});
        begin += rows;
    }
}

Matrix ProductAdapters::read(Kernels& kernels, Workspace& memory, const Matrix& x) const {
    if (!of_.dropout.present()) return x;
    const Matrix out = memory.matrix(x.type, x.rows, x.columns);
    kernels.dropout(out, x, of_.dropout);
    return out;
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
    const Matrix in = down(kernels, memory, read(kernels, memory, x));
    each_module(y, [&](const Module& m) {
        kernels.gemm(
            {.d = m.rows,
             .a = of_module(in, m.nth),
             .b = weights(m.b),
             .transpose_b = Transpose::yes,
             .addend = addend.present() ? addend.column_range(m.begin, m.rows.columns) : Matrix{}});
    });
}

void ProductAdapters::begin_backward(Kernels& kernels, Matrix dy) {
    if (!present()) return;
    dy_ = dy;
    gradient_ = take_adapted(memory_, places_, dy.rows, dy.type);
    each_module(dy, [&](const Module& m) {
        kernels.gemm(
            {.d = of_module(gradient_, m.nth), .a = m.rows, .b = weights(m.b), .alpha = of_.scale});
    });
}

void ProductAdapters::gradients(Kernels& kernels, Matrix x, bool accumulate) {
    if (!present()) return;
    Workspace memory = memory_;
    x = read(kernels, memory, x);
    const Matrix in = input_.present() ? input_ : down(kernels, memory, x);
    each_module(dy_, [&](const Module& m) {
        kernels.gemm({.d = of_.gradient.matrix(m.b),
                      .a = m.rows,
                      .b = of_module(in, m.nth),
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
    if (!present()) return;
    kernels.gemm({.d = dx, .a = gradient_, .b = weights(places_.a)});
    if (of_.dropout.present()) kernels.dropout(dx, dx, of_.dropout);
}

}  // namespace sluice

// NF4 of frozen layers: vectors in bf16, then the matrices, whose linear layers are coded apart. A
// matrix is decoded before each of its products, all into the same memory.
#include "engine/kernels/nf4.h"

#include <vector>

#include "engine/layers/layer_form.h"

namespace sluice {
namespace {

/// Calls use(tensor, its first element) for each linear layer of the matrix at `place`.
template <typename Use>
void each_tensor(char* block, const TensorPlace& place, Use use) {
    std::int64_t at = place.offset, first = 0;
    for (const std::int64_t rows : place.rows_of_parts()) {
        const Nf4Tensor tensor(block + at, rows * place.columns);
        use(tensor, first);
        at += tensor.parts.end, first += tensor.elements;
    }
}

void decode(Kernels& kernels, const Matrix& out, char* block, const TensorPlace& place) {
    std::int64_t row = 0;
    each_tensor(block, place, [&](const Nf4Tensor& tensor, std::int64_t /*first*/) {
        const std::int64_t rows = tensor.elements / place.columns;
        kernels.decode_nf4(out.row_range(row, rows), tensor);
        row += rows;
    });
}

/// The mean of a tensor's scales is known when all weights are there.
class Nf4Writer : public BlockWriter {
  public:
    explicit Nf4Writer(const BlockOfLayer& of) : of_(of) {}

    void after(std::int64_t begin, std::int64_t end) override { copy_vectors(of_, begin, end); }

    void finish() override {
        for (const auto matrix : kCodedMatrices)
            each_tensor(of_.block, of_.to.*matrix,
                        [&](const Nf4Tensor& tensor, std::int64_t first) {
                            write(tensor, of_.weights + (of_.from.*matrix).offset + first);
                        });
    }

  private:
    void write(const Nf4Tensor& tensor, const std::uint16_t* weights) const {
        std::vector<double> sums(static_cast<std::size_t>(tensor.parts.groups));
        const auto each_group = [&](const auto& use) {
            of_.pool.parallel_for(tensor.parts.groups, 1,
                                  [&](std::int64_t begin, std::int64_t end) {
                                      for (std::int64_t group = begin; group < end; ++group)
                                          use(group);
                                  });
        };
        each_group([&](std::int64_t group) {
            sums[static_cast<std::size_t>(group)] = nf4_sum(weights, tensor, group);
        });
        double sum = 0;
        for (const double of_group : sums) sum += of_group;
        const auto mean = static_cast<float>(sum / static_cast<double>(tensor.parts.blocks));
        *tensor.mean() = mean;
        each_group([&](std::int64_t group) { encode_nf4(weights, tensor, group, mean); });
    }

    const BlockOfLayer of_;
};

}  // namespace

LayerForm nf4_layer() {
    return {[](const LayerLayout& bf16) {
                return coded_layout(bf16, 0, [](const TensorPlace& matrix) {
                    std::int64_t bytes = 0;
                    for (const std::int64_t rows : matrix.rows_of_parts())
                        bytes += Nf4Parts(rows * matrix.columns).end;
                    return bytes;
                });
            },
            [](LayerWeights& weights, const TensorPlace& place, std::size_t /*index*/) {
                Operand out{Matrix(weights.memory.data(), DType::bf16, place.rows, place.columns)};
                out.stored = {static_cast<char*>(weights.block), place, decode};
                return out;
            },
            [](const BlockOfLayer& of) -> std::unique_ptr<BlockWriter> {
                return std::make_unique<Nf4Writer>(of);
            }};
}

}  // namespace sluice

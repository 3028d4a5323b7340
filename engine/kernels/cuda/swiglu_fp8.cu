// SwiGLU's backward pass straight to FP8: a first pass finds the largest numbers, a second one
// computes them again and writes their codes. Gradients in bf16 never reach memory, which takes
// twice the bytes of reading gate and up again.
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/fp8_codes.cuh"
#include "engine/kernels/cuda/largest.cuh"
#include "engine/kernels/cuda/require.h"
#include "engine/kernels/cuda/swiglu.cuh"

namespace sluice {
namespace {

constexpr int kThreads = 256;
constexpr int kTileRows = 128, kTileColumns = 64;
constexpr int kRows = 4;  // of a thread, which has 8 columns of them
constexpr int kGroups = kTileColumns / 8;
static_assert(kThreads / kGroups == kTileRows / kRows);

/// The codes of a tile's gate, up or product, 4 rows of a column in a word; the odd length spreads
/// columns over the banks.
using Tile = unsigned[kTileColumns][kTileRows / kRows + 1];

struct Outputs {
    unsigned char *gradient, *gradient_columns, *product_columns;
};

/// 8 numbers of gate's and up's gradients and of the product, as bf16.
struct Results {
    Packet<8> gate, up, product;
    template <bool kCodes>
    __device__ static Results of(const GateUp<8, kCodes>& gate_up, const Packet<8>& gradient) {
        float g[8], u[8], d[8];
        gate_up.unpack(g, u);
        gradient.unpack(d);
        differentiate(g, u, d);
        return {Packet<8>::pack(g), Packet<8>::pack(u), Packet<8>::pack(d)};
    }
};

/// The tile of a block and the part of a thread.
struct Part {
    std::int64_t first_row = std::int64_t{blockIdx.y} * kTileRows;
    int first_column = static_cast<int>(blockIdx.x) * kTileColumns;
    int group = static_cast<int>(threadIdx.x) % kGroups;
    int quad = static_cast<int>(threadIdx.x) / kGroups;
    __device__ std::int64_t row() const { return first_row + kRows * quad; }
    __device__ int column() const { return first_column + 8 * group; }
};

/// A thread reads 8 columns of each of its rows.
template <bool kCodes>
struct Loaded {
    GateUp<8, kCodes> gate_up[kRows];
    Packet<8> dproduct[kRows];
    __device__ Loaded(const SwigluArguments& in, const Part& part) {
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            gate_up[r].load(in, part.row() + r, part.column());
            dproduct[r] = Packet<8>::load(in.product.row(part.row() + r) + part.column());
        }
    }
    __device__ Results results(int r) const { return Results::of(gate_up[r], dproduct[r]); }
};

template <bool kCodes>
__global__ void __launch_bounds__(kThreads) largest_kernel(SwigluArguments in, std::int64_t rows) {
    const Part part;
    unsigned gradient = 0, product = 0;
    if (part.row() < rows && part.column() < in.width) {
        const Loaded<kCodes> loaded(in, part);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            const Results found = loaded.results(r);
            gradient = found.up.raise(found.gate.raise(gradient));
            product = found.product.raise(product);
        }
    }
    __shared__ unsigned parts[2][kMostWarps];
    raise_largest(gradient, in.gradient_scale, parts[0]);
    raise_largest(product, in.product_scale, parts[1]);
}

__device__ void store(Tile& tile, const Part& part, const uint2 (&codes)[kRows]) {
#pragma unroll
    for (unsigned c = 0; c < 4; ++c) {
        tile[8 * part.group + c][part.quad] =
            byte_of_each(codes[0].x, codes[1].x, codes[2].x, codes[3].x, c);
        tile[8 * part.group + 4 + c][part.quad] =
            byte_of_each(codes[0].y, codes[1].y, codes[2].y, codes[3].y, c);
    }
}

/// The tile's columns as rows of a matrix (in.width, rows) of codes, 16 bytes at a time.
__device__ void write_columns(const Tile& tile, const Part& part, int width, std::int64_t rows,
                              unsigned char* to) {
    constexpr int kPieces = kTileRows / 16;
    for (int piece = static_cast<int>(threadIdx.x); piece < kTileColumns * kPieces;
         piece += kThreads) {
        const int column = piece / kPieces;
        const std::int64_t row = part.first_row + 16 * (piece % kPieces);
        if (part.first_column + column >= width || row >= rows) continue;
        const unsigned* const words = &tile[column][4 * (piece % kPieces)];
        *reinterpret_cast<uint4*>(to + (part.first_column + column) * rows + row) =
            make_uint4(words[0], words[1], words[2], words[3]);
    }
}

template <bool kCodes>
__global__ void __launch_bounds__(kThreads)
    codes_kernel(SwigluArguments in, std::int64_t rows, Outputs out) {
    __shared__ Tile gate, up, product;
    const float factor = factor_of<DType::e5m2>(in.gradient_scale),
                product_factor = factor_of<DType::e4m3>(in.product_scale);
    const Part part;
    if (part.row() < rows && part.column() < in.width) {
        const Loaded<kCodes> loaded(in, part);
        uint2 gates[kRows], ups[kRows], products[kRows];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            const Results found = loaded.results(r);
            gates[r] = eight_codes<DType::e5m2>(found.gate, factor);
            ups[r] = eight_codes<DType::e5m2>(found.up, factor);
            products[r] = eight_codes<DType::e4m3>(found.product, product_factor);
            unsigned char* const row = out.gradient + (part.row() + r) * 2 * in.width;
            *reinterpret_cast<uint2*>(row + part.column()) = gates[r];
            *reinterpret_cast<uint2*>(row + in.width + part.column()) = ups[r];
        }
        store(gate, part, gates);
        store(up, part, ups);
        store(product, part, products);
    }
    __syncthreads();
    write_columns(gate, part, in.width, rows, out.gradient_columns);
    write_columns(up, part, in.width, rows, out.gradient_columns + in.width * rows);
    write_columns(product, part, in.width, rows, out.product_columns);
}

}  // namespace

void CudaKernels::swiglu_backward_fp8(Matrix gate_up, Matrix dproduct, const SwigluCodes& out,
                                      EightBits codes) {
    const char* const operation = "swiglu_backward_fp8";
    const std::int64_t rows = dproduct.rows, width = dproduct.columns;
    require_fp8(compute_capability_, dproduct);
    require_bf16(operation, "dproduct", dproduct, rows, width);
    if (!codes.present()) require_bf16(operation, "gate_up", gate_up, rows, 2 * width);
    require((codes.present() ? codes.width == width : rows_are_aligned(gate_up)) &&
                rows_are_aligned(dproduct),
            operation, "aligned rows and codes of their width");
    const auto fits = [](const Matrix& m, DType type, std::int64_t of_rows, std::int64_t columns) {
        return m.type == type && m.rows == of_rows && m.columns == columns && m.stride == columns &&
               is_aligned(m.data);
    };
    require(fits(out.gradient, DType::e5m2, rows, 2 * width) &&
                fits(out.gradient_columns, DType::e5m2, 2 * width, rows) &&
                fits(out.product_columns, DType::e4m3, width, rows),
            operation, "codes of the matrices' sizes");
    const SwigluArguments in{bf16_rows(gate_up),
                             bf16_rows(dproduct),
                             static_cast<int>(width),
                             0,
                             out.product_scale,
                             out.gradient_scale,
                             codes};
    clear_largest(in.product_scale, stream_);
    clear_largest(in.gradient_scale, stream_);
    const dim3 tiles(grid_of(operation, divide_up(width, kTileColumns)),
                     grid_of(operation, divide_up(rows, kTileRows)));
    const auto bytes = [](const Matrix& m) { return static_cast<unsigned char*>(m.data); };
    const Outputs to{bytes(out.gradient), bytes(out.gradient_columns), bytes(out.product_columns)};
    (codes.present() ? largest_kernel<true>
                     : largest_kernel<false>)<<<tiles, kThreads, 0, stream_>>>(in, rows);
    SLUICE_CHECK_CUDA(cudaGetLastError());
    (codes.present() ? codes_kernel<true> : codes_kernel<false>)<<<tiles, kThreads, 0, stream_>>>(
        in, rows, to);
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

}  // namespace sluice

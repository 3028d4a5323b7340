// The kernels of layers with experts: the choice of experts, copies of tokens sorted by expert and
// back, SwiGLU with a weight a row. Sums have an order that never changes.
#include <algorithm>

#include "engine/kernels/cuda/block_sum.cuh"
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/grouped_products.h"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"
#include "engine/kernels/cuda/swiglu.cuh"

namespace sluice {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpThreads;
constexpr int kMostOfLane = 16;                           // logits of a token that a lane has
constexpr int kMostExperts = kMostOfLane * kWarpThreads;  // 512
constexpr int kSorted = 1024;                             // copies that a block sorts
constexpr int kSortThreads = 1024;

/// The token or row of this warp, and this thread's place in it.
struct WarpPlace {
    std::int64_t row = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarpThreads;
    int lane = static_cast<int>(threadIdx.x % kWarpThreads);
};

__device__ float warp_sum(float value) { return group_sum(value, kWarpThreads); }

/// A logit and its expert. A NaN is behind all numbers.
struct Candidate {
    float logit;
    int expert;
    __device__ bool before(const Candidate& other) const {
        return logit > other.logit || (logit == other.logit && expert < other.expert);
    }
};
__device__ Candidate best_of_warp(Candidate mine) {
    for (int offset = kWarpThreads / 2; offset > 0; offset /= 2) {
        const Candidate other{__shfl_xor_sync(kAllLanes, mine.logit, offset),
                              __shfl_xor_sync(kAllLanes, mine.expert, offset)};
        if (other.before(mine)) mine = other;
    }
    return mine;
}

/// A warp a token; V logits a lane: those of expert i x 32 + lane.
template <int V>
__global__ void __launch_bounds__(kThreads)
    choose_kernel(const float* logits, std::int64_t stride, ExpertRoutes out, bool of_all) {
    constexpr float kNone = -INFINITY;
    const WarpPlace at;
    if (at.row >= out.tokens) return;
    const int experts = static_cast<int>(out.experts), chosen = static_cast<int>(out.of_token);
    float value[V];
    bool free[V];
#pragma unroll
    for (int i = 0; i < V; ++i) {
        const int expert = i * kWarpThreads + at.lane;
        free[i] = expert < experts;
        value[i] = free[i] ? logits[at.row * stride + expert] : kNone;
    }
    float largest = 0, mine = 0, my_expert_logit = 0;
    int my_expert = 0;
    for (int s = 0; s < chosen; ++s) {
        Candidate best{kNone, kMostExperts};
#pragma unroll
        for (int i = 0; i < V; ++i) {
            const Candidate one{value[i] == value[i] ? value[i] : kNone,
                                i * kWarpThreads + at.lane};
            if (free[i] && one.before(best)) best = one;
        }
        best = best_of_warp(best);
        float logit = 0;
#pragma unroll
        for (int i = 0; i < V; ++i)
            if (i * kWarpThreads + at.lane == best.expert) free[i] = false, logit = value[i];
        logit = __shfl_sync(kAllLanes, logit, best.expert % kWarpThreads);
        if (s == 0) largest = logit;
        if (at.lane == s) my_expert = best.expert, my_expert_logit = logit;
    }
    mine = at.lane < chosen ? expf(my_expert_logit - largest) : 0;
    float sum = mine;
    if (of_all) {
        sum = 0;
#pragma unroll
        for (int i = 0; i < V; ++i)
            if (i * kWarpThreads + at.lane < experts) sum += expf(value[i] - largest);
    }
    sum = warp_sum(sum);
    if (at.lane >= chosen) return;
    out.expert[at.row * chosen + at.lane] = my_expert;
    out.weight[at.row * chosen + at.lane] = mine / sum;
}

/// The experts of this block's copies, in shared memory; returns how many there are.
__device__ int load_sorted(const ExpertRoutes& routes, std::int32_t (&experts)[kSorted]) {
    const std::int64_t first = std::int64_t{blockIdx.x} * kSorted;
    const int count =
        static_cast<int>(min(std::int64_t{kSorted}, routes.tokens * routes.of_token - first));
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
        experts[i] = routes.expert[first + i];
    __syncthreads();
    return count;
}

/// A part of what a block sorts has a thread for each expert.
struct SortPlace {
    int experts, parts, expert, part;
    __device__ explicit SortPlace(const ExpertRoutes& routes)
        : experts(static_cast<int>(routes.experts)),
          parts(static_cast<int>(blockDim.x) / experts),
          expert(static_cast<int>(threadIdx.x) % experts),
          part(static_cast<int>(threadIdx.x) / experts) {}
    __device__ bool works() const { return part < parts; }
    /// Where part `index` of `count` things begins.
    __device__ int begin(int count, int index) const { return count * index / parts; }
};

/// in_part[thread] = the copies of its expert in its part.
__device__ void count_in_part(const SortPlace& at, const std::int32_t (&experts)[kSorted],
                              int copies, std::int32_t (&in_part)[kSortThreads]) {
    int count = 0;
    if (at.works())
        for (int i = at.begin(copies, at.part); i < at.begin(copies, at.part + 1); ++i)
            count += experts[i] == at.expert ? 1 : 0;
    in_part[threadIdx.x] = count;
    __syncthreads();
}

/// The sum over the expert's parts before `end`.
__device__ std::int32_t sum_of_parts(const SortPlace& at,
                                     const std::int32_t (&in_part)[kSortThreads], int end) {
    std::int32_t sum = 0;
    for (int part = 0; part < end; ++part) sum += in_part[part * at.experts + at.expert];
    return sum;
}

/// counts[block][expert]: copies of each expert among those of a block.
__global__ void __launch_bounds__(kSortThreads)
    count_kernel(ExpertRoutes routes, std::int32_t* counts) {
    __shared__ std::int32_t experts[kSorted], in_part[kSortThreads];
    const int copies = load_sorted(routes, experts);
    const SortPlace at(routes);
    count_in_part(at, experts, copies, in_part);
    if (at.part == 0)
        counts[blockIdx.x * routes.experts + at.expert] = sum_of_parts(at, in_part, at.parts);
}

/// counts[block][expert] becomes the first row of that block's copies of the expert. One block.
__global__ void __launch_bounds__(kSortThreads)
    first_rows_kernel(ExpertRoutes routes, std::int32_t* counts, int blocks, double* busiest) {
    __shared__ std::int32_t in_part[kSortThreads], totals[kMostExperts];
    const SortPlace at(routes);
    std::int32_t count = 0;
    if (at.works())
        for (int b = at.begin(blocks, at.part); b < at.begin(blocks, at.part + 1); ++b)
            count += counts[b * at.experts + at.expert];
    in_part[threadIdx.x] = count;
    __syncthreads();
    if (at.part == 0) totals[at.expert] = sum_of_parts(at, in_part, at.parts);
    __syncthreads();
    if (threadIdx.x == 0 && busiest != nullptr) {
        std::int32_t most = 0;
        for (int e = 0; e < at.experts; ++e) most = max(most, totals[e]);
        *busiest += static_cast<double>(most) * static_cast<double>(routes.experts) /
                    static_cast<double>(routes.tokens * routes.of_token);
    }
    if (!at.works()) return;
    std::int32_t row = sum_of_parts(at, in_part, at.part);
    for (int e = 0; e < at.expert; ++e) row += totals[e];
    if (at.part == 0) routes.ends[at.expert] = row + totals[at.expert];
    for (int b = at.begin(blocks, at.part); b < at.begin(blocks, at.part + 1); ++b) {
        std::int32_t& here = counts[b * at.experts + at.expert];
        const std::int32_t of_block = here;
        here = row;
        row += of_block;
    }
}

/// Rows of copies, in the order of tokens.
__global__ void __launch_bounds__(kSortThreads)
    place_kernel(ExpertRoutes routes, const std::int32_t* first_rows) {
    __shared__ std::int32_t experts[kSorted], in_part[kSortThreads];
    const int copies = load_sorted(routes, experts);
    const SortPlace at(routes);
    count_in_part(at, experts, copies, in_part);
    if (!at.works()) return;
    std::int32_t row =
        first_rows[blockIdx.x * routes.experts + at.expert] + sum_of_parts(at, in_part, at.part);
    const auto first = static_cast<std::int32_t>(blockIdx.x) * kSorted;
    for (int i = at.begin(copies, at.part); i < at.begin(copies, at.part + 1); ++i) {
        if (experts[i] != at.expert) continue;
        routes.row[first + i] = row;
        routes.copy[row++] = first + i;
    }
}

__device__ void put(float value, float* to) { *to = value; }
__device__ void put(float value, Bf16* to) { *to = __float2bfloat16_rn(value); }

/// A warp a token: dlogit = w (dw - the sum of w dw), where w is the softmax that counts and dw is
/// 0 for experts that were not chosen.
template <typename Out>
__global__ void __launch_bounds__(kThreads)
    route_backward_kernel(Out* dlogits, std::int64_t out_stride, const float* logits,
                          std::int64_t stride, ExpertRoutes routes, const float* dweights,
                          bool of_all) {
    const WarpPlace at;
    if (at.row >= routes.tokens) return;
    const int experts = static_cast<int>(routes.experts);
    const int chosen = static_cast<int>(routes.of_token);
    const bool has_one = at.lane < chosen;
    const std::int64_t copy = at.row * chosen + at.lane;
    const float weight = has_one ? routes.weight[copy] : 0;
    const float dweight = has_one ? dweights[copy] : 0;
    const int expert = has_one ? routes.expert[copy] : 0;
    const float mean = warp_sum(weight * dweight);
    const float* const row = logits + at.row * stride;
    float largest = -INFINITY, sum = 0;
    if (of_all) {
        for (int e = at.lane; e < experts; e += kWarpThreads) largest = fmaxf(largest, row[e]);
        for (int offset = kWarpThreads / 2; offset > 0; offset /= 2)
            largest = fmaxf(largest, __shfl_xor_sync(kAllLanes, largest, offset));
        for (int e = at.lane; e < experts; e += kWarpThreads) sum += expf(row[e] - largest);
        sum = warp_sum(sum);
    }
    Out* const out = dlogits + at.row * out_stride;
    for (int e = at.lane; e < experts; e += kWarpThreads)
        put(of_all ? -mean * expf(row[e] - largest) / sum : 0.0F, out + e);
    __syncwarp();
    if (has_one) put(weight * (dweight - mean), out + expert);
}

/// A block a token: its row is read once and written to each of its copies.
template <int W>
__global__ void __launch_bounds__(kThreads)
    copy_kernel(Bf16Rows copies, Bf16Rows in, ExpertRoutes routes, int columns) {
    const std::int64_t token = blockIdx.x;
    const std::int32_t* const rows = routes.row + token * routes.of_token;
    for (int c = static_cast<int>(threadIdx.x) * W; c < columns; c += kThreads * W) {
        const auto packet = Packet<W>::load(in.row(token) + c);
        for (int i = 0; i < routes.of_token; ++i) packet.store(copies.row(rows[i]) + c);
    }
}

template <int W>
__global__ void __launch_bounds__(kThreads)
    sum_kernel(Bf16Rows y, Bf16Rows addend, Bf16Rows copies, ExpertRoutes routes, int columns) {
    const std::int64_t token = blockIdx.x;
    const std::int32_t* const rows = routes.row + token * routes.of_token;
    for (int c = static_cast<int>(threadIdx.x) * W; c < columns; c += kThreads * W) {
        float sum[W] = {};
        if (addend.data != nullptr) Packet<W>::load(addend.row(token) + c).unpack(sum);
#pragma unroll 8
        for (int i = 0; i < routes.of_token; ++i) {
            float value[W];
            Packet<W>::load(copies.row(rows[i]) + c).unpack(value);
#pragma unroll
            for (int j = 0; j < W; ++j) sum[j] += value[j];
        }
        Packet<W>::pack(sum).store(y.row(token) + c);
    }
}

/// A warp a row.
__global__ void __launch_bounds__(kThreads)
    expert_swiglu_kernel(SwigluArguments in, ExpertRoutes routes) {
    const WarpPlace at;
    if (at.row >= routes.tokens * routes.of_token) return;
    const float weight = routes.weight[routes.copy[at.row]];
    const Bf16* const gate = in.gate_up.row(at.row);
    // All lanes take part in the codes of a group.
    const int end = (in.width + kWarpThreads * 8 - 1) / (kWarpThreads * 8) * kWarpThreads * 8;
    for (int c = at.lane * 8; c < end; c += kWarpThreads * 8) {
        const bool inside = c < in.width;
        Packet<8> gates, ups;
        if (inside) {
            gates = Packet<8>::load(gate + c);
            ups = Packet<8>::load(gate + in.width + c);
        }
        if (in.codes.present()) {
            const CodePlace to(in, at.row, c);
            write_codes(gates, inside, in.codes.codes + to.gate, in.codes.largest + to.gate_group);
            write_codes(ups, inside, in.codes.codes + to.up, in.codes.largest + to.up_group);
        }
        if (!inside) continue;
        float g[8], u[8];
        gates.unpack(g);
        ups.unpack(u);
#pragma unroll
        for (int i = 0; i < 8; ++i) u[i] *= g[i] * sigmoid(g[i]) * weight;
        Packet<8>::pack(u).store(in.product.row(at.row) + c);
    }
}

/// A warp a row.
template <bool kCodes>
__global__ void __launch_bounds__(kThreads)
    expert_swiglu_backward_kernel(SwigluArguments in, ExpertRoutes routes, float* dweights) {
    const WarpPlace at;
    if (at.row >= routes.tokens * routes.of_token) return;
    const std::int32_t copy = routes.copy[at.row];
    const float weight = routes.weight[copy];
    float dweight = 0;
    for (int c = at.lane * 8; c < in.width; c += kWarpThreads * 8) {
        GateUp<8, kCodes> gate_up;
        gate_up.load(in, at.row, c);
        float g[8], u[8], given[8], d[8];
        gate_up.unpack(g, u);
        Packet<8>::load(in.product.row(at.row) + c).unpack(given);
#pragma unroll
        for (int i = 0; i < 8; ++i) d[i] = given[i] * weight;
        differentiate(g, u, d);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            dweight += given[i] * d[i];
            d[i] *= weight;
        }
        Bf16* const gate = in.gate_up.row(at.row) + c;
        Packet<8>::pack(g).store(gate);
        Packet<8>::pack(u).store(gate + in.width);
        Packet<8>::pack(d).store(in.product.row(at.row) + c);
    }
    dweight = warp_sum(dweight);
    if (at.lane == 0) dweights[copy] = dweight;
}

/// sums (+)= values, 8 elements a thread.
__global__ void __launch_bounds__(kThreads)
    add_kernel(float* sums, const Bf16* values, std::int64_t size, bool accumulate) {
    const std::int64_t first = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * 8;
    if (first >= size) return;
    float value[8];
    Packet<8>::load(values + first).unpack(value);
    auto* const to = reinterpret_cast<float4*>(sums + first);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float* const v = value + 4 * half;
        float4 sum = accumulate ? to[half] : make_float4(0, 0, 0, 0);
        sum.x += v[0], sum.y += v[1], sum.z += v[2], sum.w += v[3];
        to[half] = sum;
    }
}

void require_routes(const char* operation, const ExpertRoutes& routes) {
    require(routes.experts <= kMostExperts && routes.of_token <= kWarpThreads &&
                routes.of_token <= routes.experts,
            operation, "at most 512 experts, 32 of a token");
}

void require_logits(const char* operation, const Matrix& logits, const ExpertRoutes& routes) {
    require_routes(operation, routes);
    require(logits.type == DType::fp32 && logits.rows == routes.tokens &&
                logits.columns == routes.experts,
            operation, "fp32 logits of (tokens, experts)");
}

unsigned warps_for(const char* operation, std::int64_t rows) {
    return grid_of(operation, divide_up(rows, kWarps));
}

SwigluArguments swiglu_arguments(const char* operation, const Matrix& product,
                                 const Matrix& gate_up, const ExpertRoutes& routes,
                                 const EightBits& codes) {
    require_routes(operation, routes);
    require_bf16(operation, "product", product, routes.rows(), product.columns);
    require_bf16(operation, "gate_up", gate_up, product.rows, 2 * product.columns);
    require(product.columns % 8 == 0 && rows_are_aligned(gate_up) && rows_are_aligned(product),
            operation, "rows of whole packets of 8");
    if (codes.present()) {
        require_eight_bits(product.columns);
        require(codes.width == product.columns, operation, "codes of the width");
    }
    return {bf16_rows(gate_up),
            bf16_rows(product),
            static_cast<int>(product.columns),
            1,
            nullptr,
            nullptr,
            codes};
}

}  // namespace

void CudaKernels::route(const ExpertRoutes& out, Matrix logits, RouteWeights weights,
                        double* busiest) {
    const char* const operation = "route";
    require_logits(operation, logits, out);
    const auto kernel = out.experts <= 32    ? choose_kernel<1>
                        : out.experts <= 64  ? choose_kernel<2>
                        : out.experts <= 128 ? choose_kernel<4>
                        : out.experts <= 256 ? choose_kernel<8>
                                             : choose_kernel<kMostOfLane>;
    kernel<<<warps_for(operation, out.tokens), kThreads, 0, stream_>>>(
        static_cast<const float*>(logits.data), logits.stride, out,
        weights == RouteWeights::of_all);
    const unsigned blocks = grid_of(operation, divide_up(out.rows(), kSorted));
    require(static_cast<std::int64_t>(blocks) * out.experts *
                    static_cast<std::int64_t>(sizeof(std::int32_t)) <=
                scratch_.bytes,
            operation, "scratch for a count of each expert a block");
    auto* const counts = static_cast<std::int32_t*>(scratch_.data);
    const auto threads = static_cast<unsigned>(divide_up(out.experts, kWarpThreads) * kWarpThreads);
    count_kernel<<<blocks, threads, 0, stream_>>>(out, counts);
    first_rows_kernel<<<1, threads, 0, stream_>>>(out, counts, static_cast<int>(blocks), busiest);
    place_kernel<<<blocks, threads, 0, stream_>>>(out, counts);
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

void CudaKernels::route_backward(Matrix dlogits, Matrix logits, const ExpertRoutes& routes,
                                 const float* dweights, RouteWeights weights) {
    const char* const operation = "route_backward";
    require_logits(operation, logits, routes);
    require(dlogits.rows == logits.rows && dlogits.columns == logits.columns &&
                (dlogits.type == DType::bf16 || dlogits.type == DType::fp32),
            operation, "gradients of the logits' size");
    const unsigned blocks = warps_for(operation, routes.tokens);
    const auto launch = [&](auto* out) {
        route_backward_kernel<<<blocks, kThreads, 0, stream_>>>(
            out, dlogits.stride, static_cast<const float*>(logits.data), logits.stride, routes,
            dweights, weights == RouteWeights::of_all);
    };
    dlogits.type == DType::bf16 ? launch(bf16_data(dlogits))
                                : launch(static_cast<float*>(dlogits.data));
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

void CudaKernels::copy_to_experts(Matrix copies, Matrix in, const ExpertRoutes& routes) {
    const char* const operation = "copy_to_experts";
    require_routes(operation, routes);
    require_bf16(operation, "in", in, routes.tokens, in.columns);
    require_bf16(operation, "copies", copies, routes.rows(), in.columns);
    const bool wide = in.columns % 8 == 0 && rows_are_aligned(in) && rows_are_aligned(copies);
    const auto kernel = wide ? copy_kernel<8> : copy_kernel<1>;
    kernel<<<grid_of(operation, routes.tokens), kThreads, 0, stream_>>>(
        bf16_rows(copies), bf16_rows(in), routes, static_cast<int>(in.columns));
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

void CudaKernels::sum_of_experts(Matrix y, Matrix addend, Matrix copies,
                                 const ExpertRoutes& routes) {
    const char* const operation = "sum_of_experts";
    require_routes(operation, routes);
    require_bf16(operation, "y", y, routes.tokens, y.columns);
    require_bf16(operation, "copies", copies, routes.rows(), y.columns);
    if (addend.present()) require_bf16(operation, "addend", addend, y.rows, y.columns);
    const bool wide = y.columns % 8 == 0 && rows_are_aligned(y) && rows_are_aligned(copies) &&
                      (!addend.present() || rows_are_aligned(addend));
    const auto kernel = wide ? sum_kernel<8> : sum_kernel<1>;
    kernel<<<grid_of(operation, routes.tokens), kThreads, 0, stream_>>>(
        bf16_rows(y), bf16_rows(addend), bf16_rows(copies), routes, static_cast<int>(y.columns));
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

void CudaKernels::expert_swiglu(Matrix product, Matrix gate_up, const ExpertRoutes& routes,
                                EightBits codes) {
    const char* const operation = "expert_swiglu";
    const SwigluArguments in = swiglu_arguments(operation, product, gate_up, routes, codes);
    expert_swiglu_kernel<<<warps_for(operation, product.rows), kThreads, 0, stream_>>>(in, routes);
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

void CudaKernels::expert_swiglu_backward(Matrix gate_up, Matrix dproduct,
                                         const ExpertRoutes& routes, float* dweights,
                                         EightBits codes) {
    const char* const operation = "expert_swiglu_backward";
    const SwigluArguments in = swiglu_arguments(operation, dproduct, gate_up, routes, codes);
    const auto kernel = codes.present() ? expert_swiglu_backward_kernel<true>
                                        : expert_swiglu_backward_kernel<false>;
    kernel<<<warps_for(operation, dproduct.rows), kThreads, 0, stream_>>>(in, routes, dweights);
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

void CudaKernels::expert_products(const ExpertProducts& products, const ExpertRoutes& routes) {
    const char* const operation = "expert_products";
    require_routes(operation, routes);
    const Matrix& d = products.d;
    const bool sums = d.type == DType::fp32;
    require(!sums || (products.role == GemmRole::weight_gradient && products.rounded != nullptr &&
                      d.stride == d.columns && d.elements() % 8 == 0 && is_aligned(d.data)),
            operation, "sums in fp32 of weight gradients alone, with memory to round them");
    const Matrix out = sums ? Matrix(products.rounded, DType::bf16, d.rows, d.columns) : d;
    int device = 0;
    SLUICE_CHECK_CUDA(cudaGetDevice(&device));
    run_grouped(
        {stream_, device, products.role, out, products.a, products.b, routes.ends, routes.experts});
    if (!sums) return;
    add_kernel<<<grid_of(operation, divide_up(d.elements(), kThreads * 8)), kThreads, 0, stream_>>>(
        static_cast<float*>(d.data), bf16_data(out), d.elements(), products.accumulate);
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

}  // namespace sluice

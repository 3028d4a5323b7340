#include "engine/kernels/attention_batch.h"
#include "sim/base/input_error.h"
#include "tests/engine/cuda_kernels/attention_case.h"
#include "tests/engine/cuda_kernels/check_cases.h"

namespace sluice {
namespace {

/// sequences, sequence, heads, kv_heads, head_dim, window; then padding of the rows.
const std::vector<AttentionCase::Shape>& attention_shapes() {
    static const std::vector<AttentionCase::Shape> shapes{
        {{1, 128, 2, 2, 64}},
        {{2, 256, 4, 4, 128}},
        {{2, 128, 4, 2, 64}},   // grouped heads
        {{1, 128, 7, 1, 128}},  // all queries of one key head
        {{3, 100, 4, 2, 64}},   // sequence not a multiple of a tile
        {{1, 2, 2, 1, 64}},     // the shortest
        {{5, 3, 2, 1, 16}},
        {{2, 65, 2, 1, 8}},
        {{1, 200, 2, 1, 80}},
        {{1, 130, 2, 2, 256}},
        {{2, 256, 4, 2, 64, 64}},  // windows
        {{2, 256, 4, 2, 64, 1}},
        {{1, 100, 2, 1, 128, 33}},
        {{1, 100, 2, 1, 128, 100}},  // as wide as the sequence: none
        {{2, 128, 4, 2, 64}, {16, 0}},
    };
    return shapes;
}

TEST_CASE("attention: grouped heads, windows, sequences of any length", "[cuda_kernels]") {
    check_cases<AttentionCase>(attention_shapes());
}

TEST_CASE("attention: gradients of the same shapes", "[cuda_kernels]") {
    check_cases<AttentionBackwardCase>(attention_shapes());
}

/// First tokens of documents of one and two tokens in turn.
std::vector<std::int32_t> short_documents(std::int32_t tokens) {
    std::vector<std::int32_t> begins;
    for (std::int32_t token = 0; token < tokens; ++token)
        if (token % 3 != 2) begins.push_back(token);
    return begins;
}

/// As above, and the first tokens of documents.
const std::vector<AttentionCase::Shape>& document_shapes() {
    static const std::vector<AttentionCase::Shape> shapes{
        {{1, 128, 2, 2, 64}, {}, {0}},
        {{2, 256, 4, 2, 64}, {}, {0, 256}},
        {{2, 256, 4, 2, 64}, {}, {0, 100, 101, 256, 500, 511}},
        {{1, 512, 7, 1, 128}, {}, {0, 1, 2, 130, 258, 300}},
        {{3, 100, 4, 2, 64}, {}, {0, 33, 100, 200, 210, 220, 230, 240, 299}},
        {{1, 32, 2, 1, 16}, {}, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}},
        {{1, 300, 2, 2, 256}, {}, {0, 17, 150}},
        {{2, 256, 4, 2, 64, 32}, {}, {0, 10, 200, 256, 300}},  // a window
        {{2, 128, 4, 2, 64}, {16, 0}, {0, 40, 128, 200}},
        {{2, 4500, 2, 1, 16}, {}, short_documents(9000)},  // more than are taken at a time
    };
    return shapes;
}

TEST_CASE("attention: documents of any lengths", "[cuda_kernels]") {
    check_cases<AttentionCase>(document_shapes());
    check_cases<AttentionBackwardCase>(document_shapes());
}

TEST_CASE("attention: documents use the workspace that is planned", "[cuda_kernels]") {
    if (!has_gpu()) return;
    for (const AttentionShape& shape :
         {AttentionShape{8, 1024, 28, 4, 128}, AttentionShape{8, 1024, 14, 2, 64},
          AttentionShape{4, 512, 8, 8, 128}}) {
        AttentionBatch size = batch_of(shape);
        size.within_documents = true;
        const std::int64_t planned = attention_workspace_bytes(size);
        for (const std::int64_t length : {1, 16, 100, 512}) {
            std::vector<std::int32_t> begins;
            for (std::int64_t token = 0; token < shape.tokens(); ++token)
                if (token % shape.sequence % length == 0)
                    begins.push_back(static_cast<std::int32_t>(token));
            const DeviceDocuments documents(std::move(begins), shape.tokens());
            const std::int64_t bytes =
                gpu().kernels().attention_workspace_bytes(shape, documents.view());
            CAPTURE(shape.heads, length);
            CHECK(bytes <= planned);
            if (length == 1) CHECK(planned - bytes < 4096);
        }
    }
}

TEST_CASE("attention: two runs give the same output", "[cuda_kernels]") {
    if (!has_gpu()) return;
    DeviceMatrix qkv(512, 4 * 64), first(512, 2 * 64), second(512, 2 * 64);
    DeviceMatrix statistics(1, 2 * 512, DType::fp32);
    qkv.fill_random(1, {-2, 2});
    const AttentionShape shape{2, 256, 2, 1, 64};
    auto* const data = static_cast<float*>(statistics.view().data);
    gpu().kernels().attention(shape, qkv.view(), first.view(), data);
    gpu().kernels().attention(shape, qkv.view(), second.view(), data);
    CHECK(first.read() == second.read());
}

/// On Hopper, where the workspace was measured.
bool has_gpu_that_repeats() {
    if (!has_gpu()) return false;
    int device = 0, major = 0;
    SLUICE_CHECK_CUDA(cudaGetDevice(&device));
    SLUICE_CHECK_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    return major == 9;
}

TEST_CASE("attention: gradients are the same in each run", "[cuda_kernels]") {
    if (!has_gpu_that_repeats()) return;
    constexpr int kRuns = 8;
    for (const AttentionShape& shape :
         {AttentionShape{2, 512, 4, 2, 64}, AttentionShape{9, 1024, 28, 4, 128},
          AttentionShape{2, 2048, 128, 16, 128}, AttentionShape{3, 100, 4, 4, 64},
          AttentionShape{2, 1000, 8, 2, 128, 300}}) {
        CAPTURE(shape.sequences, shape.sequence, shape.heads);
        const std::int64_t bytes = gpu().kernels().attention_workspace_bytes(shape);
        const std::int64_t planned = attention_workspace_bytes(batch_of(shape));
        CAPTURE(bytes, planned);
        CHECK(bytes <= planned);
        AttentionBackwardCase runs({shape});
        runs.run(gpu().kernels());
        const std::vector<double> first = runs.read_dqkv();
        for (int run = 1; run < kRuns; ++run) {
            runs.run(gpu().kernels());
            REQUIRE((runs.read_dqkv() == first));
        }
    }
}

TEST_CASE("attention: gradients of some sequences at a time are those of these alone",
          "[cuda_kernels]") {
    if (!has_gpu_that_repeats()) return;
    const AttentionShape all{11, 2048, 7, 1, 128}, last{5, 2048, 7, 1, 128};
    REQUIRE(attention_at_once(batch_of(all)).sequences == 6);
    CudaKernels& kernels = gpu().kernels();
    DeviceMatrix qkv(all.tokens(), all.qkv_width()), out(all.tokens(), all.query_width());
    DeviceMatrix dout(all.tokens(), all.query_width()), dqkv(all.tokens(), all.qkv_width());
    DeviceMatrix alone(last.tokens(), last.qkv_width());
    DeviceMatrix statistics(1, all.heads * all.tokens(), DType::fp32);
    qkv.fill_random(1, {-2, 2}), dout.fill_random(2);
    const DeviceMemory workspace = allocate_on_device(kernels.attention_workspace_bytes(all));
    auto* const sums = static_cast<float*>(statistics.view().data);
    kernels.attention(all, qkv.view(), out.view(), sums);
    kernels.attention_backward(all, qkv.view(), out.view(), sums, dout.view(), dqkv.view(),
                               workspace.get());
    const std::int64_t before = all.tokens() - last.tokens();
    const auto of_last = [&](const DeviceMatrix& m) {
        return m.view().row_range(before, last.tokens());
    };
    kernels.attention_backward(last, of_last(qkv), of_last(out), sums + before * all.heads,
                               of_last(dout), alone.view(), workspace.get());
    const std::vector<double> gradients = dqkv.read(), expected = alone.read();
    CHECK(
        (std::vector<double>(gradients.end() - std::ssize(expected), gradients.end()) == expected));
}

TEST_CASE("attention: a document's gradients do not depend on its neighbours", "[cuda_kernels]") {
    if (!has_gpu()) return;
    const DeviceMemory scratch = allocate_on_device(kCudaScratchBytes);
    CudaKernels kernels(gpu().stream(), {scratch.get(), kCudaScratchBytes}, {true});
    const AttentionShape shape{1, 512, 4, 2, 64};
    constexpr std::int64_t kFirst = 200;  // tokens of the documents that stay
    const DeviceDocuments documents({0, 60, kFirst, kFirst + 1, 400}, shape.tokens());
    const auto gradients = [&](unsigned seed_of_neighbours) {
        DeviceMatrix qkv(shape.tokens(), shape.qkv_width());
        DeviceMatrix dout(shape.tokens(), shape.query_width());
        DeviceMatrix out(shape.tokens(), shape.query_width());
        DeviceMatrix dqkv(shape.tokens(), shape.qkv_width());
        DeviceMatrix statistics(1, shape.heads * shape.tokens(), DType::fp32);
        DeviceMatrix neighbours(shape.tokens() - kFirst, shape.qkv_width());
        qkv.fill_random(1, {-2, 2});
        dout.fill_random(2);
        neighbours.fill_random(seed_of_neighbours, {-2, 2});
        wait_for_device();
        SLUICE_CHECK_CUDA(cudaMemcpy(qkv.view().row_range(kFirst, neighbours.view().rows).data,
                                     neighbours.view().data,
                                     static_cast<std::size_t>(neighbours.view().elements() * kBf16),
                                     cudaMemcpyDeviceToDevice));
        wait_for_device();
        auto* const sums = static_cast<float*>(statistics.view().data);
        const DeviceMemory workspace =
            allocate_on_device(kernels.attention_workspace_bytes(shape, documents.view()));
        kernels.attention(shape, qkv.view(), out.view(), sums, documents.view());
        kernels.attention_backward(shape, qkv.view(), out.view(), sums, dout.view(), dqkv.view(),
                                   workspace.get(), documents.view());
        std::vector<double> first = dqkv.read();
        first.resize(static_cast<std::size_t>(kFirst * shape.qkv_width()));
        return first;
    };
    CHECK(gradients(3) == gradients(4));
}

TEST_CASE("attention: heads and sequences that cuDNN cannot compute are the model's fault",
          "[cuda_kernels]") {
    if (!has_gpu()) return;
    REQUIRE_THROWS_AS(gpu().kernels().attention_workspace_bytes({1, 128, 2, 1, 20}), InputError);
    REQUIRE_THROWS_WITH(gpu().kernels().attention_workspace_bytes({1, 128, 2, 1, 20}),
                        ContainsSubstring("head_dim is 20"));
    REQUIRE_THROWS_WITH(gpu().kernels().attention_workspace_bytes({1, 1, 2, 1, 64}),
                        ContainsSubstring("sequence is 1"));
}

}  // namespace
}  // namespace sluice

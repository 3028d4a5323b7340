// Does a kernel say the work of its shape: FLOPs and bytes counted by hand?
#include "sim/specs/model/kernel.h"

#include "tests/catch.h"

namespace sluice {

TEST_CASE("kernel: a product of (2, 4) and (4, 3) does 48 FLOPs and moves 52 bytes", "[model]") {
    const Kernel one = gemm("test", GemmRole::forward, 2, 3, 4);
    CHECK(one.flops == 48);  // 2 x 2 x 3 x 4
    CHECK(one.bytes == 2 * (2 * 4 + 4 * 3 + 2 * 3));
    const Kernel five = gemm("test", GemmRole::forward, 2, 3, 4, 5);
    CHECK(five.flops == 5 * 48);
    CHECK(five.bytes == 5 * 52);
    CHECK(total_flops({one, five}) == 6 * 48);
    CHECK(total_bytes({one, five, memory_bound("norm", 100)}) == 6 * 52 + 100);
    CHECK(total_launches({one, memory_bound("norm", 100, 7)}) == 8);
}

TEST_CASE("kernel: forward reads what it adds, a weight gradient reads and writes its fp32 sum",
          "[model]") {
    // 2 x 3 elements. Forward: 2 bytes more each. Weight gradient: 4 read and 4 written instead of
    // 2 written, 6 bytes more each.
    const Kernel forward = with_addend(gemm("test", GemmRole::forward, 2, 3, 4));
    CHECK(forward.added);
    CHECK(forward.added_bytes == 2 * 6);
    CHECK(forward.bytes == 52 + 2 * 6);
    CHECK(forward.flops == 48);
    const Kernel weights = with_addend(gemm("test", GemmRole::weight_gradient, 2, 3, 4));
    CHECK(weights.added_bytes == 6 * 6);
    CHECK(weights.bytes == 52 + 6 * 6);
    // Five experts add five times as much.
    CHECK(with_addend(gemm("test", GemmRole::forward, 2, 3, 4, 5)).added_bytes == 5 * 2 * 6);
    CHECK_FALSE(gemm("test", GemmRole::forward, 2, 3, 4).added);
}

TEST_CASE("kernel: attention scores half of the pairs and passes each operand once", "[model]") {
    // 3 sequences of 8 tokens, 4 query heads of 16 and values of 10, 2 key heads: 32 pairs, a score
    // over 16 and a sum over 10, 2 FLOPs each, 4 heads, 3 sequences.
    const AttentionSize size = {3, 8, 4, 2, 16, 10};
    const Kernel forward = attention_forward(size);
    CHECK(forward.kind == KernelKind::attention_forward);
    CHECK(forward.flops == 2 * 32 * (16 + 10) * 4 * 3);
    // 24 tokens: 4 heads of query and output (16 + 10), 2 heads of key and value (16 each).
    CHECK(forward.bytes == 2 * 24 * (4 * 26 + 2 * 2 * 16));
    CHECK(forward.sequences == 3);
    CHECK(forward.sequence == 8);
    CHECK(forward.heads == 4);
    CHECK(forward.kv_heads == 2);
    CHECK(forward.head_dim == 16);
    const Kernel backward = attention_backward(size);
    CHECK(backward.kind == KernelKind::attention_backward);
    CHECK(backward.flops == 2.5 * forward.flops);
    CHECK(backward.bytes == 2.5 * forward.bytes);
}

TEST_CASE("kernel: elementwise work knows what it is, its matrix and its bytes", "[model]") {
    const Kernel kernel = elementwise("activation", MemoryBoundWork::swiglu, 5, 7, 6);
    CHECK(kernel.kind == KernelKind::memory_bound);
    CHECK(kernel.work == MemoryBoundWork::swiglu);
    CHECK(kernel.rows == 5);
    CHECK(kernel.columns == 7);
    CHECK(kernel.bytes == 5 * 7 * 6);
    CHECK(kernel.launches == 1);
    CHECK(memory_bound("copy", 10).work == MemoryBoundWork::other);
}

}  // namespace sluice

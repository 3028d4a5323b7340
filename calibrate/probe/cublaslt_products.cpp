// The interface is that of cublasLt.h, the same from CUDA 11 to 13: opaque handles, and numbers of
// attributes and types.
#include "calibrate/probe/cublaslt_products.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>

#include "calibrate/probe/shared_library.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

constexpr int kComputeFp32 = 68;                 // CUBLAS_COMPUTE_32F
constexpr int kTransposeA = 3, kTransposeB = 4;  // CUBLASLT_MATMUL_DESC_TRANSA, _TRANSB
constexpr int kMaxWorkspace = 1;                 // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES

using Handle = void*;

struct Heuristic {  // cublasLtMatmulHeuristicResult_t
    std::array<std::uint64_t, 8> algorithm;
    std::size_t workspace;
    int status;
    float waves;
    std::array<int, 4> reserved;
};

struct Library {
    int (*create)(Handle*);
    int (*create_operation)(Handle*, int compute, int scale);
    int (*set_operation)(Handle, int attribute, const void* value, std::size_t bytes);
    int (*create_layout)(Handle*, int type, std::uint64_t rows, std::uint64_t columns,
                         std::int64_t stride);
    int (*create_preference)(Handle*);
    int (*set_preference)(Handle, int attribute, const void* value, std::size_t bytes);
    int (*heuristic)(Handle, Handle operation, Handle a, Handle b, Handle c, Handle d,
                     Handle preference, int wanted, Heuristic*, int* found);
    int (*multiply)(Handle, Handle operation, const void* alpha, const void* a, Handle a_layout,
                    const void* b, Handle b_layout, const void* beta, const void* c,
                    Handle c_layout, void* d, Handle d_layout, const void* algorithm,
                    void* workspace, std::size_t bytes, CudaStream);
};

std::unique_ptr<SharedLibrary> open_cublaslt() {
    return SharedLibrary::open(
        {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11", "libcublasLt.so"});
}

void check(int status, const char* what) {
    if (status != 0)
        throw std::runtime_error(fmt::format("cuBLASLt: {} failed with status {}", what, status));
}

int cuda_type(DType type) {
    constexpr int kFp32 = 0, kBf16 = 14;  // CUDA_R_32F, CUDA_R_16BF
    if (is_fp8(type)) throw InternalError("the probe's products are in bf16");
    return type == DType::bf16 ? kBf16 : kFp32;
}

/// The row-major matrix as cuBLASLt, which is column-major, sees it: its transpose.
struct Shape {
    int type;
    std::int64_t rows, columns, stride;
    auto operator<=>(const Shape&) const = default;
};
Shape shape_of(const Matrix& matrix) {
    return {cuda_type(matrix.type), matrix.columns, matrix.rows, matrix.stride};
}

class CublasLtProducts final : public Products {
  public:
    CublasLtProducts(const Library& library, CudaStream stream, ProductWorkspace workspace)
        : library_(library), stream_(stream), workspace_(workspace) {
        check(library_.create(&handle_), "creating a handle");
        check(library_.create_preference(&preference_), "creating a preference");
        const std::uint64_t bytes = workspace.bytes;
        check(library_.set_preference(preference_, kMaxWorkspace, &bytes, sizeof(bytes)),
              "limiting the workspace");
    }

    void gemm(const Product& product) override {
        const Matrix& added = product.addend.present() ? product.addend : product.d;
        const Plan& plan = plan_of(product, added);
        const float alpha = 1;
        const float beta = product.accumulate || product.addend.present() ? 1.0F : 0.0F;
        // d = a b is d^T = b^T a^T, so b comes first.
        check(library_.multiply(handle_, plan.operation, &alpha, product.b.data, plan.a,
                                product.a.data, plan.b, &beta, added.data, plan.c, product.d.data,
                                plan.d, plan.algorithm.data(), workspace_.data, workspace_.bytes,
                                stream_),
              "a product");
    }

  private:
    struct Plan {
        Handle operation = nullptr, a = nullptr, b = nullptr, c = nullptr, d = nullptr;
        std::array<std::uint64_t, 8> algorithm{};
    };
    struct Key {
        Shape a, b, c, d;
        Transpose transpose_a, transpose_b;
        auto operator<=>(const Key&) const = default;
    };

    const Plan& plan_of(const Product& product, const Matrix& added) {
        const Key key{shape_of(product.b), shape_of(product.a), shape_of(added),
                      shape_of(product.d), product.transpose_b, product.transpose_a};
        const auto found = plans_.find(key);
        return found != plans_.end() ? found->second : plans_.emplace(key, plan(key)).first->second;
    }

    Plan plan(const Key& key) const {
        Plan out;
        check(library_.create_operation(&out.operation, kComputeFp32, cuda_type(DType::fp32)),
              "describing a product");
        transpose(out.operation, kTransposeA, key.transpose_a);
        transpose(out.operation, kTransposeB, key.transpose_b);
        out.a = layout(key.a);
        out.b = layout(key.b);
        out.c = layout(key.c);
        out.d = layout(key.d);
        Heuristic best{};
        int count = 0;
        check(library_.heuristic(handle_, out.operation, out.a, out.b, out.c, out.d, preference_, 1,
                                 &best, &count),
              "choosing an algorithm");
        if (count == 0) throw std::runtime_error("cuBLASLt: no algorithm for a product in bf16");
        out.algorithm = best.algorithm;
        return out;
    }
    void transpose(Handle operation, int attribute, Transpose transpose) const {
        const std::int32_t value = transpose == Transpose::yes ? 1 : 0;  // CUBLAS_OP_T, _N
        check(library_.set_operation(operation, attribute, &value, sizeof(value)), "transposing");
    }
    Handle layout(const Shape& shape) const {
        Handle out = nullptr;
        check(library_.create_layout(&out, shape.type, static_cast<std::uint64_t>(shape.rows),
                                     static_cast<std::uint64_t>(shape.columns), shape.stride),
              "describing a matrix");
        return out;
    }

    Library library_;
    CudaStream stream_;
    ProductWorkspace workspace_;
    // Handles end with the process, like the library.
    Handle handle_ = nullptr, preference_ = nullptr;
    std::map<Key, Plan> plans_;
};

}  // namespace

bool has_cublaslt() { return open_cublaslt() != nullptr; }

std::unique_ptr<Products> make_cublaslt_products(CudaStream stream, ProductWorkspace workspace) {
    const auto file = open_cublaslt();
    if (!file) return nullptr;
    Library library{};
    file->find("cublasLtCreate", library.create);
    file->find("cublasLtMatmulDescCreate", library.create_operation);
    file->find("cublasLtMatmulDescSetAttribute", library.set_operation);
    file->find("cublasLtMatrixLayoutCreate", library.create_layout);
    file->find("cublasLtMatmulPreferenceCreate", library.create_preference);
    file->find("cublasLtMatmulPreferenceSetAttribute", library.set_preference);
    file->find("cublasLtMatmulAlgoGetHeuristic", library.heuristic);
    file->find("cublasLtMatmul", library.multiply);
    return std::make_unique<CublasLtProducts>(library, stream, workspace);
}

}  // namespace sluice

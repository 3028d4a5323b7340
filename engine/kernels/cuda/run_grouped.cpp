#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "engine/kernels/cuda/grouped_products.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

GroupedProductsFunction* load() {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::string path = (program.parent_path() / kGroupedProductsLibrary).string();
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
        throw InputError(
            fmt::format("products of experts need {} and libtorch_cuda.so of torch "
                        "2.11 or later: {}; build the trainer beside a torch for CUDA",
                        path, dlerror()));
    void* const function = dlsym(library, kGroupedProductsFunction);
    if (function == nullptr)
        throw InternalError(fmt::format("{} has no {}", path, kGroupedProductsFunction));
    return reinterpret_cast<GroupedProductsFunction*>(function);
}

}  // namespace

void run_grouped(const GroupedProducts& products) {
    static GroupedProductsFunction* const function = load();
    if (const char* const why = function(products); why != nullptr)
        throw InternalError(fmt::format("products of experts: {}", why));
}

}  // namespace sluice

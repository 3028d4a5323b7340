// Is a GPU that failed told from a program's mistake?
#include "engine/kernels/cuda/cuda_check.h"

#include "sim/base/input_error.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("cuda check: a GPU that failed is an error of the machine, with the call and the reason",
          "[cuda]") {
    for (const cudaError_t status :
         {cudaErrorECCUncorrectable, cudaErrorContained, cudaErrorNvlinkUncorrectable,
          cudaErrorHardwareStackError, cudaErrorDevicesUnavailable, cudaErrorSystemNotReady,
          cudaErrorOperatingSystem, cudaErrorExternalDevice, cudaErrorUnknown}) {
        CAPTURE(cudaGetErrorName(status));
        REQUIRE(gpu_fault(status) != nullptr);
        try {
            check_cuda(status, "cudaFree(memory)", "/some/where/device.cpp", 12);
            FAIL("no exception");
        } catch (const MachineError& error) {
            const std::string said = error.what();
            CHECK_THAT(said, ContainsSubstring("the GPU failed: ") &&
                                 ContainsSubstring("(device.cpp:12 cudaFree(memory): ") &&
                                 ContainsSubstring(cudaGetErrorString(status)));
        }
    }
}

TEST_CASE("cuda check: other errors are no fault of the GPU", "[cuda]") {
    CHECK_NOTHROW(check_cuda(cudaSuccess, "", "", 0));
    for (const cudaError_t status : {cudaErrorMemoryAllocation, cudaErrorIllegalAddress,
                                     cudaErrorInvalidValue, cudaErrorNoDevice}) {
        CAPTURE(cudaGetErrorName(status));
        CHECK(gpu_fault(status) == nullptr);
        CHECK_THROWS_AS(check_cuda(status, "f()", "a.cpp", 1), CudaError);
    }
}

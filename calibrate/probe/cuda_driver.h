// How does the probe call NVIDIA's driver? Through its interface as documented (CUDA Driver API),
// loaded from libcuda.so.1, so that the probe needs neither toolkit nor GPU to be built or started.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice {

using CudaStream = struct CUstream_st*;
using CudaEvent = struct CUevent_st*;
using CudaContext = struct CUctx_st*;
using CudaAddress = std::uintptr_t;

struct CudaDriver {
    int (*init)(unsigned flags);
    int (*count)(int* count);
    int (*device)(int* device, int ordinal);
    int (*name)(char* name, int length, int device);
    int (*attribute)(int* value, int attribute, int device);
    int (*bus_id)(char* id, int length, int device);
    int (*retain_context)(CudaContext* context, int device);
    int (*set_context)(CudaContext context);
    int (*synchronize)();
    int (*memory)(std::size_t* free, std::size_t* total);
    int (*allocate)(CudaAddress* memory, std::size_t bytes);
    int (*release)(CudaAddress memory);
    int (*fill)(CudaAddress memory, unsigned char value, std::size_t bytes);
    int (*register_host)(void* memory, std::size_t bytes, unsigned flags);
    int (*unregister_host)(void* memory);
    int (*copy)(CudaAddress to, CudaAddress from, std::size_t bytes, CudaStream stream);
    int (*create_stream)(CudaStream* stream, unsigned flags);
    int (*create_event)(CudaEvent* event, unsigned flags);
    int (*record)(CudaEvent event, CudaStream stream);
    int (*wait)(CudaStream stream, CudaEvent event, unsigned flags);
    int (*wait_for)(CudaEvent event);
    int (*elapsed)(float* milliseconds, CudaEvent begin, CudaEvent end);
    int (*error_name)(int status, const char** name);

    /// Throws std::runtime_error with the name of the error unless `status` is 0.
    void check(int status, const char* what) const;
};

inline constexpr int kMultiprocessorCount = 16;    // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
inline constexpr unsigned kStreamNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
inline constexpr unsigned kEventBlockingSync = 1;  // CU_EVENT_BLOCKING_SYNC

/// Null if there is no driver, or it shows no GPU.
const CudaDriver* cuda_driver();

}  // namespace sluice

// How is host memory allocated for training? Mapped, in huge pages if the system gives them,
// touched by the threads that will use it, page-locked where the link reads or writes it.
#pragma once

#include <utility>

#include "engine/device/device.h"
#include "engine/optimizer/thread_pool.h"
#include "sim/base/units.h"

namespace sluice {

/// The smallest page of the system; huge pages are multiples of it.
inline constexpr Bytes kPage = 4096;

class HostRegion {
  public:
    HostRegion() = default;
    /// Maps `bytes` of zeros and touches them on the threads of `pool`. With `device`, the region
    /// is registered with it. Throws InputError if the system does not give the memory.
    HostRegion(Bytes bytes, const char* what, ThreadPool& pool, Device* device = nullptr);
    ~HostRegion();
    HostRegion(HostRegion&& other) noexcept { *this = std::move(other); }
    HostRegion& operator=(HostRegion&& other) noexcept;
    HostRegion(const HostRegion&) = delete;
    HostRegion& operator=(const HostRegion&) = delete;

    char* data() const { return data_; }
    Bytes bytes() const { return bytes_; }
    template <typename T>
    T* at(Bytes offset) const {
        return reinterpret_cast<T*>(data_ + offset);
    }

  private:
    char* data_ = nullptr;
    Bytes bytes_ = 0;
    Device* device_ = nullptr;  ///< the device that it is registered with
};

}  // namespace sluice

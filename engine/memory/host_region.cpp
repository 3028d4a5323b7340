#include "engine/memory/host_region.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

constexpr Bytes kHugePage = 2 * kMiB;

}  // namespace

HostRegion::HostRegion(Bytes bytes, const char* what, ThreadPool& pool, Device* device)
    : HostRegion() {  // complete from here on: what throws below runs the destructor
    if (bytes <= 0) return;
    void* const memory = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw InputError(
            fmt::format("host memory: the system does not give {:.1f} GB for {} ({}); free memory, "
                        "or give a smaller --state-bytes or --batch",
                        static_cast<double>(bytes) / kGiga, what, std::strerror(errno)));
    }
    data_ = static_cast<char*>(memory);
    bytes_ = bytes;
    madvise(memory, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);  // small pages work too
    // The first write places a page on the writing thread's node.
    pool.parallel_for(bytes, kHugePage, [this](std::int64_t begin, std::int64_t end) {
        for (std::int64_t at = begin; at < end; at += kPage)
            *static_cast<volatile char*>(data_ + at) = 0;
    });
    if (device != nullptr) device->register_host(data_, bytes_);
    device_ = device;
}

HostRegion::~HostRegion() {
    if (data_ == nullptr) return;
    if (device_ != nullptr) device_->release_host(data_);
    munmap(data_, static_cast<std::size_t>(bytes_));
}

HostRegion& HostRegion::operator=(HostRegion&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(device_, other.device_);
    return *this;
}

}  // namespace sluice

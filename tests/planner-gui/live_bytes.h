// How many bytes of the heap are in use?
#pragma once

#include <malloc.h>

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/allocator_interface.h>
#endif

namespace sluice::test {

/// In all threads; what is freed does not count, whether or not the system has it back.
inline std::size_t live_bytes() {
#ifdef __SANITIZE_ADDRESS__
    return __sanitizer_get_current_allocated_bytes();
#else
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
#endif
}

}  // namespace sluice::test

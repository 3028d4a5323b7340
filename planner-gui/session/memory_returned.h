// How does the system get back what a search has freed?
#pragma once

#include <malloc.h>

namespace sluice {

/// At its end: a search frees hundreds of MB in several threads, and glibc keeps the pages of each.
struct MemoryReturned {
    MemoryReturned() = default;
    MemoryReturned(const MemoryReturned&) = delete;
    MemoryReturned& operator=(const MemoryReturned&) = delete;
    ~MemoryReturned() {
#ifdef __GLIBC__
        malloc_trim(0);
#endif
    }
};

}  // namespace sluice

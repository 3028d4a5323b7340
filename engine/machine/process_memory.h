// How much memory does this process hold, of which kind, and how much of it in huge pages?
#pragma once

#include <optional>
#include <string>

#include "sim/base/units.h"

namespace sluice {

/// Bytes resident now; nothing where the kernel does not tell.
struct ProcessMemory {
    std::optional<Bytes> anonymous;  ///< RssAnon: what the plan counts, and the heap
    std::optional<Bytes> file;       ///< RssFile: programs, libraries and mapped data, shared
    std::optional<Bytes> shared;     ///< RssShmem: shared memory and memory files
    std::optional<Bytes> peak;       ///< VmHWM: most that was resident at once, all kinds
    std::optional<Bytes> resident() const;  ///< all kinds together
};

/// Reads /proc/self/status below `root`.
ProcessMemory read_process_memory(const std::string& root = "/");

/// Anonymous bytes in transparent huge pages (AnonHugePages of all mappings). The kernel walks the
/// page tables for it: for the end of a run, not for every step.
std::optional<Bytes> read_huge_page_bytes(const std::string& root = "/");

}  // namespace sluice

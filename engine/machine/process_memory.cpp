#include "engine/machine/process_memory.h"

#include <string_view>

#include "engine/machine/system_files.h"

namespace sluice {

std::optional<Bytes> ProcessMemory::resident() const {
    if (!anonymous || !file || !shared) return std::nullopt;
    return *anonymous + *file + *shared;
}

ProcessMemory read_process_memory(const std::string& root) {
    const std::string text = SystemFiles(root).text("proc/self/status");
    return {kilobyte_field(text, "RssAnon:"), kilobyte_field(text, "RssFile:"),
            kilobyte_field(text, "RssShmem:"), kilobyte_field(text, "VmHWM:")};
}

std::optional<Bytes> read_huge_page_bytes(const std::string& root) {
    constexpr std::string_view kKey = "AnonHugePages:";
    const SystemFiles files(root);
    std::string text = files.text("proc/self/smaps_rollup");  // the sum, from Linux 4.14 on
    if (text.empty()) text = files.text("proc/self/smaps");
    std::optional<Bytes> sum;
    for (std::size_t at = text.find(kKey); at != std::string::npos; at = text.find(kKey, at + 1)) {
        if (at > 0 && text[at - 1] != '\n') continue;  // in the name of a mapped file
        const auto bytes = kilobyte_field(std::string_view(text).substr(at), kKey);
        if (bytes) sum = sum.value_or(0) + *bytes;
    }
    return sum;
}

}  // namespace sluice

#include "engine/machine/control_group.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

/// Version 1 writes "no limit" as the largest number of pages.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

/// Path of the process's group among the controllers named: "0::/job" is that of version 2, where
/// `controller` is "".
std::string group_path(std::string_view groups, std::string_view controller) {
    while (!groups.empty()) {
        const std::string_view line = groups.substr(0, groups.find('\n'));
        groups.remove_prefix(std::min(groups.size(), line.size() + 1));
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string_view::npos || second == std::string_view::npos) continue;
        std::string names = ",";
        names += line.substr(first + 1, second - first - 1);
        names += ',';
        const bool found = controller.empty()
                               ? names == ",,"
                               : names.find("," + std::string(controller) + ",") != names.npos;
        if (found) return std::string(line.substr(second + 1));
    }
    return "/";
}

/// Folders of the group and of all groups around it up to the mount. Within a container the path
/// can be the one outside, where there is nothing; the mount is the container's own group then.
std::vector<std::string> folders_of(const std::string& mount, std::string path) {
    std::vector<std::string> folders;
    if (path.find("..") != std::string::npos) path.clear();
    while (path.size() > 1) {
        folders.push_back(mount + path);
        path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
    folders.push_back(mount);
    return folders;
}

template <typename T>
void tighten(std::optional<T>& limit, T found) {
    limit = limit ? std::min(*limit, found) : found;
}

void tighten_memory(ControlGroupLimits& limits, std::optional<std::int64_t> bytes) {
    if (bytes && *bytes > 0 && *bytes < kNoLimit) tighten(limits.memory, Bytes{*bytes});
}

void tighten_cpus(ControlGroupLimits& limits, std::optional<std::int64_t> quota,
                  std::optional<std::int64_t> period) {
    if (quota && period && *quota > 0 && *period > 0)
        tighten(limits.cpus, static_cast<double>(*quota) / static_cast<double>(*period));
}

void read_version_2(const SystemFiles& files, const std::string& folder,
                    ControlGroupLimits& limits) {
    tighten_memory(limits, files.integer(folder + "/memory.max"));
    // Above `high` the kernel takes pages back and makes the process wait: no place to train in.
    tighten_memory(limits, files.integer(folder + "/memory.high"));
    const std::string cpu = files.text(folder + "/cpu.max");  // "200000 100000", or "max 100000"
    const std::size_t blank = cpu.find(' ');
    if (blank != std::string::npos)
        tighten_cpus(limits, parse_integer(std::string_view(cpu).substr(0, blank)),
                     parse_integer(std::string_view(cpu).substr(blank)));
}

}  // namespace

ControlGroupLimits read_control_group_limits(const SystemFiles& files) {
    const std::string groups = files.text("proc/self/cgroup");
    ControlGroupLimits limits;
    for (const char* mount : {"sys/fs/cgroup", "sys/fs/cgroup/unified"})
        for (const std::string& folder : folders_of(mount, group_path(groups, "")))
            read_version_2(files, folder, limits);
    for (const std::string& folder :
         folders_of("sys/fs/cgroup/memory", group_path(groups, "memory")))
        tighten_memory(limits, files.integer(folder + "/memory.limit_in_bytes"));
    for (const char* mount :
         {"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct", "sys/fs/cgroup/cpuacct,cpu"})
        for (const std::string& folder : folders_of(mount, group_path(groups, "cpu")))
            tighten_cpus(limits, files.integer(folder + "/cpu.cfs_quota_us"),
                         files.integer(folder + "/cpu.cfs_period_us"));
    return limits;
}

}  // namespace sluice

// Which files do tests of machine facts read? A small /proc and /sys in a folder that is gone when
// the test ends.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "sim/base/input_error.h"
#include "sim/base/units.h"

namespace sluice {

inline constexpr Bytes kGiB = Bytes{1} << 30;

class FakeMachine {
  public:
    FakeMachine() {
        std::string name =
            (std::filesystem::temp_directory_path() / "sluice-machine-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw InternalError("no folder for tests");
        root_ = name;
    }
    ~FakeMachine() {
        std::error_code ignored;
        std::filesystem::remove_all(root_, ignored);
    }
    FakeMachine(const FakeMachine&) = delete;
    FakeMachine& operator=(const FakeMachine&) = delete;

    std::string root() const { return root_.string(); }

    FakeMachine& file(std::string_view path, std::string_view text) {
        const std::filesystem::path full = root_ / path;
        std::filesystem::create_directories(full.parent_path());
        std::ofstream(full, std::ios::binary) << text;
        return *this;
    }

    /// `total` and `available` in GiB.
    FakeMachine& memory(int total, int available) {
        return file(
            "proc/meminfo",
            fmt::format("MemTotal:       {} kB\nMemFree:        1024 kB\nMemAvailable:   {} "
                        "kB\nSwapTotal:      8388608 kB\nSwapFree:       8388608 kB\n"
                        "CommitLimit:    2097152 kB\nCommitted_AS:   1048576 kB\n",
                        std::int64_t{total} << 20, std::int64_t{available} << 20));
    }

    /// The process may use the CPUs and nodes of these lists.
    FakeMachine& allowed(std::string_view cpus, std::string_view nodes) {
        return file("proc/self/status",
                    fmt::format("Name:\tsluice\nCapEff:\t0000000000000000\nTHP_enabled:\t1\n"
                                "Cpus_allowed_list:\t{}\nMems_allowed_list:\t{}\n",
                                cpus, nodes));
    }

    /// `memory` and `free` in GiB.
    FakeMachine& node(int id, std::string_view cpus, int memory, int free) {
        const std::string folder = fmt::format("sys/devices/system/node/node{}", id);
        file(folder + "/cpulist", fmt::format("{}\n", cpus));
        return file(
            folder + "/meminfo",
            fmt::format("Node {0} MemTotal:       {1} kB\nNode {0} MemFree:        {2} kB\n", id,
                        std::int64_t{memory} << 20, std::int64_t{free} << 20));
    }

    /// CPU `second` is the second CPU of the core of CPU `first`.
    FakeMachine& siblings(int first, int second) {
        for (const int cpu : {first, second})
            file(fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu),
                 fmt::format("{},{}\n", first, second));
        return *this;
    }

    FakeMachine& huge_pages(std::string_view setting) {
        return file("sys/kernel/mm/transparent_hugepage/enabled", setting);
    }

    FakeMachine& locked_memory(std::string_view soft, std::string_view hard) {
        return file("proc/self/limits",
                    fmt::format("Limit                     Soft Limit           Hard Limit         "
                                "  Units     \nMax processes             96365                "
                                "96365                processes \nMax locked memory         {:<20} "
                                "{:<20} bytes     \n",
                                soft, hard));
    }

    /// Two sockets of four cores with two CPUs each: 0-3 and 8-11, 4-7 and 12-15; 64 GiB each.
    FakeMachine& two_sockets() {
        memory(128, 120).allowed("0-15", "0-1").huge_pages("always [madvise] never\n");
        node(0, "0-3,8-11", 64, 60).node(1, "4-7,12-15", 64, 60);
        for (int core = 0; core < 8; ++core) siblings(core, core + 8);
        return file("sys/devices/system/cpu/online", "0-15\n");
    }

  private:
    std::filesystem::path root_;
};

}  // namespace sluice

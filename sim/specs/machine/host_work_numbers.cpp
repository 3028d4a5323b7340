// The rows of `host.work`, and what stands in for those that a profile lacks.
#include <array>

#include "sim/specs/machine/spec_reader.h"

namespace sluice {
namespace {

using Row = const MachineNumber&;

// GB/s that host work and copies share on the H200 machine; its other host rates scale by it.
constexpr double kH200Shared = 177;

// Rates of host work: measured here, or the H200 machine's. Those that move bytes are scaled by
// memory bandwidth. First touch and release are not: the kernel maps and unmaps pages there, and
// how fast that is does not follow from what the memory gives (a node with an MI355X and memory
// 2.8 times as fast does both at less than half the H200 machine's rate: validation/published).
double work(Row row, SpecReader& reader, double scale, const char* how) {
    if (const auto own = reader.take(row.path)) return *own * kGiga;
    constexpr std::string_view kStart = "host.work.", kEnd = "_gb_per_s";
    std::string_view name = row.path.substr(kStart.size());
    name.remove_suffix(kEnd.size());
    reader.assume_of(row.trust, "host work (", name, how);
    return row.h200 * kGiga * scale;
}
double byte_work(Row row, SpecReader& reader, const MachineSpec&) {
    return work(row, reader, host_memory_gb_per_s(reader) / kH200Shared,
                ") goes at the H200 machine's rates, scaled by host memory bandwidth");
}
double page_work(Row row, SpecReader& reader, const MachineSpec&) {
    return work(row, reader, 1, ") goes at the H200 machine's rates");
}

template <auto Field>
constexpr MachineNumber host_work(std::string_view path, double h200, Rule<double> rule,
                                  Parts parts, RateGroup group = RateGroup::host_work) {
    return {.path = path,
            .trust = Trust::others,
            .member = fill<&MachineSpec::host, Field>,
            .rule = rule,
            .h200 = h200,
            .group = group,
            .parts = parts,
            .transfer = Transfer::host_memory};
}

constexpr Parts kMovesBytes = part::processor | part::host_memory;

constexpr std::array kHostWorkRows = {
    MachineNumber{.path = "host.work.copy_gb_per_s",
                  .trust = Trust::measured,
                  .member = fill<&MachineSpec::host, &HostSpec::memory_copy>,
                  .rule = &byte_work,
                  .h200 = 52,
                  .measured_by = "host_memory",
                  .group = RateGroup::host_work,
                  .judges_group = true,
                  .parts = kMovesBytes,
                  .transfer = Transfer::host_memory},
    host_work<&HostSpec::first_touch>("host.work.first_touch_copy_gb_per_s", 26.2, &page_work,
                                      part::processor),
    host_work<&HostSpec::zero>("host.work.zero_gb_per_s", 78.6, &byte_work, kMovesBytes),
    host_work<&HostSpec::release>("host.work.release_gb_per_s", 44.3, &page_work, part::processor),
    host_work<&HostSpec::scale>("host.work.scale_gb_per_s", 60.7, &byte_work, kMovesBytes),
    host_work<&HostSpec::norm_and_scale>("host.work.norm_and_scale_gb_per_s", 7.37, &byte_work,
                                         part::processor),
    host_work<&HostSpec::eager_adam_bytes_per_s>("host.work.bf16_master_adam_gb_per_s", 176.9,
                                                 &byte_work, kMovesBytes, RateGroup::optimizer),
};

}  // namespace

std::span<const MachineNumber> host_work_numbers() { return kHostWorkRows; }

}  // namespace sluice

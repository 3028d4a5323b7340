#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/audit/audit.h"
#include "sim/report/format.h"

namespace sluice {
namespace {

constexpr double kFullState = 12, kLeastState = 6;  // bytes a parameter

double parameters(const Claim& claim) { return static_cast<double>(total_parameters(claim.model)); }

/// What may lie in host memory and on the device.
double memory_bytes(const Claim& claim) {
    const double host = static_cast<double>(claim.machine.host.memory_capacity);
    return claim.machine.unified_memory
               ? host
               : host + static_cast<double>(claim.machine.gpu.memory_capacity);
}

/// Of states at that size, what finds no place in memory.
double spilled(const Claim& claim, double state_bytes) {
    return std::max(0.0, state_bytes * parameters(claim) - memory_bytes(claim));
}

/// A GPU of the library with about that much memory and the same maker.
std::string gpus_with(double gb, const std::string& maker) {
    std::string names;
    for (const std::string& id : library_machines()) {
        const MachineProfile profile = read_machine_profile(id);
        const Quantity* const memory = profile.find("gpu.memory_capacity_gb");
        const std::string name = profile.text("gpu.name");
        if (memory == nullptr || !memory->value || !name.starts_with(maker)) continue;
        if (std::abs(*memory->value / gb - 1) > 0.1) continue;
        if (names.find(name) == std::string::npos) names += (names.empty() ? "" : ", ") + name;
    }
    return names;
}

void check_gpu(const Claim& claim, std::vector<Finding>& out) {
    // Capacities are named in GB and meant in GiB, or the other way round: up to 7% apart.
    constexpr double kSame = 0.1;
    if (!claim.gpu_memory_gb) return;
    const double has = static_cast<double>(claim.machine.gpu.memory_capacity) / kGiga;
    const std::string name = claim.profile.text("gpu.name");
    Finding finding{Verdict::possible, "machine", fmt::format("{} has {:.0f} GB", name, has), ""};
    if (std::abs(*claim.gpu_memory_gb / has - 1) > kSame) {
        finding.verdict = Verdict::impossible;
        finding.sentence += fmt::format(", not {:g}", *claim.gpu_memory_gb);
        const std::string others = gpus_with(*claim.gpu_memory_gb, name.substr(0, name.find(' ')));
        finding.would_need = others.empty() ? "another GPU" : "another GPU: " + others;
    }
    out.push_back(finding);
}

Finding states_finding(const Claim& claim) {
    const double full = kFullState * parameters(claim), least = kLeastState * parameters(claim);
    const double memory = memory_bytes(claim), storage = claim.storage_gb * kGiga;
    Finding finding;
    finding.by = "bytes";
    const std::string there =
        storage > 0 ? fmt::format("{} of memory and {} of storage", format_bytes(memory),
                                  format_bytes(storage))
                    : fmt::format("{} of host and device memory", format_bytes(memory));
    finding.sentence = fmt::format("states take {} at 12 bytes a parameter, {} at 6; there are {}",
                                   format_bytes(full), format_bytes(least), there);
    if (least > memory + storage) {
        finding.verdict = Verdict::impossible;
        finding.would_need = fmt::format("{} more memory or storage, or fewer parameters trained",
                                         format_bytes(least - memory - storage));
    } else if (full > memory + storage) {
        finding.verdict = Verdict::doubtful;
        finding.would_need = "smaller states than fp32 moments: 8 or 6 bytes a parameter";
    } else if (full > memory) {
        finding.verdict = Verdict::doubtful;
        finding.would_need =
            fmt::format("{} of the states on storage, read and written every step{}",
                        format_bytes(full - memory),
                        least <= memory ? ", or smaller states (6 bytes a parameter)" : "");
    }
    return finding;
}

Finding flops_finding(const Claim& claim, double peak) {
    const double bound = peak / (6 * static_cast<double>(active_parameters(claim.model)));
    const double share = *claim.tokens_per_s / bound;
    Finding finding;
    finding.by = "FLOPs";
    finding.sentence =
        fmt::format("{} tokens/s use {} of the GPU's {:.0f} TFLOPS (6PT; {} would be all)",
                    format_thousands(*claim.tokens_per_s), format_percent(share), peak / kTera,
                    format_thousands(bound));
    if (share > 1) {
        finding.verdict = Verdict::impossible;
        finding.would_need =
            fmt::format("a GPU {:.1f} times as fast, or fewer parameters trained", share);
    }
    return finding;
}

/// A step must have so many tokens that its `seconds` of copies are no more than its time.
void check_tokens(const Claim& claim, const char* by, const std::string& what, double seconds,
                  std::vector<Finding>& out) {
    const double tokens = seconds * *claim.tokens_per_s;
    Finding finding{Verdict::possible, by,
                    fmt::format("{}: {} a step, so that a step has {} tokens at least", what,
                                format_seconds(seconds), format_thousands(std::ceil(tokens))),
                    ""};
    const auto given = static_cast<double>(claim.training.tokens());
    if (claim.batch_given && given < tokens) {
        finding.verdict = Verdict::impossible;
        finding.would_need =
            fmt::format("more than the {} tokens a step that are claimed", format_thousands(given));
    }
    out.push_back(finding);
}

}  // namespace

const char* verdict_name(Verdict verdict) {
    switch (verdict) {
        case Verdict::possible:
            return "possible";
        case Verdict::doubtful:
            return "doubtful";
        case Verdict::impossible:
            return "impossible";
    }
    return "";
}

double most_busy_overlapped(double serial) { return serial >= 0.5 ? 1 : serial / (1 - serial); }

std::vector<Finding> check_memory(const Claim& claim) {
    std::vector<Finding> out;
    check_gpu(claim, out);
    out.push_back(states_finding(claim));
    return out;
}

std::vector<Finding> check_rates(const Claim& claim) {
    std::vector<Finding> out;
    if (!claim.tokens_per_s) return out;
    const Quantity* const peak = claim.profile.find("gpu.bf16_dense_tflops");
    if (peak != nullptr && peak->value) out.push_back(flops_finding(claim, *peak->value * kTera));
    const double weights = kBf16 * parameters(claim);
    const LinkSpec& link = claim.machine.link;
    if (weights > static_cast<double>(claim.machine.gpu.memory_capacity))
        check_tokens(claim, "link",
                     fmt::format("{} of weights in and of gradients out", format_bytes(weights)),
                     std::max(weights / link.host_to_device, weights / link.device_to_host), out);
    const double spill = spilled(claim, kFullState);
    const StorageSpec& storage = claim.machine.storage;
    if (spill > 0 && claim.storage_gb > 0 && storage.known())
        check_tokens(claim, "storage",
                     fmt::format("{} of states read and written", format_bytes(spill)),
                     std::max(spill / storage.read, spill / storage.write), out);
    return out;
}

}  // namespace sluice

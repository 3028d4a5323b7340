#include "sim/answers/audit/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/format.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

// Bytes a parameter of the largest and the smallest states.
constexpr int kFullState = kStatePrecisions.front().bytes;
constexpr int kLeastState = kStatePrecisions.back().bytes;

double parameters(const Claim& claim) { return static_cast<double>(total_parameters(claim.model)); }

double gpus(const Claim& claim) { return static_cast<double>(claim.training.gpus); }

/// Number of hosts of the GPUs; one if the number of GPUs per host is not known.
double nodes(const Claim& claim) {
    const double in_one = claim.machine.host.gpus;
    return in_one > 0 ? std::ceil(gpus(claim) / in_one) : 1;
}

double device_bytes(const Claim& claim) {
    return gpus(claim) * static_cast<double>(claim.machine.gpu.memory_capacity);
}

double memory_bytes(const Claim& claim) {
    const double host = nodes(claim) * static_cast<double>(claim.machine.host.memory_capacity);
    return claim.machine.unified_memory ? host : host + device_bytes(claim);
}

std::string memory_words(const Claim& claim) {
    return gpus(claim) == 1 ? "host and device memory"
                            : fmt::format("memory of {:g} GPUs and their hosts", gpus(claim));
}

/// Bytes a parameter of the largest states that take at most `bytes` in all; empty if none do.
std::optional<int> states_within(const Claim& claim, double bytes) {
    for (const StatePrecision& precision : kStatePrecisions)
        if (precision.bytes * parameters(claim) <= bytes) return precision.bytes;
    return std::nullopt;
}

/// Bytes of such states that do not fit into memory.
double spilled(const Claim& claim, double state_bytes) {
    return std::max(0.0, state_bytes * parameters(claim) - memory_bytes(claim));
}

/// A GPU of the library with about that much memory, by the same vendor.
std::string gpus_with(double gb, const std::string& maker) {
    std::string names;
    for (const std::string& id : library_machines()) {
        const MachineProfile profile = read_machine_profile(id);
        const auto memory = profile.number("gpu.memory_capacity_gb");
        const std::string name = profile.text("gpu.name");
        if (!memory || profile.text("gpu.maker") != maker) continue;
        if (std::abs(*memory / gb - 1) > 0.1) continue;
        if (names.find(name) == std::string::npos) names += (names.empty() ? "" : ", ") + name;
    }
    return names;
}

void check_gpu(const Claim& claim, std::vector<Finding>& out) {
    // Sizes may be stated in GB but mean GiB, or the reverse: up to 7% apart.
    constexpr double kSame = 0.1;
    if (!claim.gpu_memory_gb) return;
    const double has = static_cast<double>(claim.machine.gpu.memory_capacity) / kGiga;
    const std::string name = claim.profile.text("gpu.name");
    Finding finding{Verdict::possible, "machine", fmt::format("{} has {:.0f} GB", name, has), ""};
    if (std::abs(*claim.gpu_memory_gb / has - 1) > kSame) {
        finding.verdict = Verdict::impossible;
        finding.sentence += fmt::format(", not {:g}", *claim.gpu_memory_gb);
        const std::string others = gpus_with(*claim.gpu_memory_gb, claim.profile.text("gpu.maker"));
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
                    : fmt::format("{} of {}", format_bytes(memory), memory_words(claim));
    finding.sentence =
        fmt::format("states take {} at {} bytes a parameter, {} at {}; the machine has {}",
                    format_bytes(full), kFullState, format_bytes(least), kLeastState, there);
    const std::optional<int> in_memory = states_within(claim, memory),
                             in_all = states_within(claim, memory + storage);
    if (!in_all) {
        finding.verdict = Verdict::impossible;
        finding.would_need = fmt::format("{} more memory or storage, or fewer trained parameters",
                                         format_bytes(least - memory - storage));
    } else if (*in_all < kFullState) {
        finding.verdict = Verdict::doubtful;
        finding.would_need = fmt::format("smaller states: at most {} bytes a parameter", *in_all);
    } else if (in_memory != kFullState) {
        finding.verdict = Verdict::doubtful;
        finding.would_need = fmt::format(
            "{} of the states on storage, read and written every step{}",
            format_bytes(full - memory),
            in_memory
                ? fmt::format(", or smaller states (at most {} bytes a parameter)", *in_memory)
                : "");
    }
    return finding;
}

Finding flops_finding(const Claim& claim, double peak) {
    const double bound = peak / (6 * static_cast<double>(active_parameters(claim.model)));
    const double share = *claim.tokens_per_s / bound;
    Finding finding;
    finding.by = "FLOPs";
    finding.sentence =
        fmt::format("{} tokens/s use {} of {} {:.0f} TFLOPS (6PT; {} tokens/s would use all)",
                    format_thousands(*claim.tokens_per_s), format_percent(share),
                    gpus(claim) == 1 ? "the GPU's" : fmt::format("the {:g} GPUs'", gpus(claim)),
                    peak / kTera, format_thousands(bound));
    if (share > 1) {
        finding.verdict = Verdict::impossible;
        finding.would_need = fmt::format("{} {:.1f} times as fast, or fewer trained parameters",
                                         gpus(claim) == 1 ? "a GPU" : "GPUs", share);
    }
    return finding;
}

/// Whether the claimed step has too few tokens for copies of that many seconds.
bool too_few_tokens(const Claim& claim, double seconds) {
    return claim.batch_given &&
           static_cast<double>(claim.training.tokens()) < seconds * *claim.tokens_per_s;
}

/// The number of tokens from which on `seconds` of copies do not exceed the step time.
Finding tokens_finding(const Claim& claim, const char* by, const std::string& what,
                       double seconds) {
    const double tokens = seconds * *claim.tokens_per_s;
    Finding finding{Verdict::possible, by,
                    fmt::format("{}: {} a step, so a step has at least {} tokens", what,
                                format_seconds(seconds), format_thousands(std::ceil(tokens))),
                    ""};
    if (too_few_tokens(claim, seconds)) {
        finding.verdict = Verdict::impossible;
        finding.would_need = fmt::format("more than the {} tokens a step that are claimed",
                                         format_thousands(claim.training.tokens()));
    }
    return finding;
}

/// Seconds in which the storage of all machines reads and writes the states that do not fit into
/// memory; weights for computing are a part of them.
double storage_seconds(const Claim& claim, double state_bytes) {
    const StorageSpec& storage = claim.machine.storage;
    const double spill = spilled(claim, state_bytes) / nodes(claim);
    return std::max(spill / storage.read, spill / storage.write);
}

/// Judges fp32 states. If only smaller states can be read and written in time, a claim is doubtful.
Finding storage_finding(const Claim& claim) {
    Finding finding = tokens_finding(
        claim, "storage",
        fmt::format("{} of states read and written", format_bytes(spilled(claim, kFullState))),
        storage_seconds(claim, kFullState));
    if (finding.verdict != Verdict::impossible ||
        too_few_tokens(claim, storage_seconds(claim, kLeastState)))
        return finding;
    finding.verdict = Verdict::doubtful;
    const double least = spilled(claim, kLeastState);
    finding.would_need =
        fmt::format("smaller states: at {} bytes a parameter {}", kLeastState,
                    least == 0 ? "all are in memory"
                               : fmt::format("{} are read and written in {}", format_bytes(least),
                                             format_seconds(storage_seconds(claim, kLeastState))));
    return finding;
}

}  // namespace

Verdict AuditedClaim::verdict() const {
    Verdict worst = Verdict::possible;
    for (const Finding& finding : findings) worst = std::max(worst, finding.verdict);
    return worst;
}

std::vector<AuditedClaim> audit(const ClaimFile& file) {
    std::vector<AuditedClaim> out;
    for (const Claim& claim : file.claims) {
        AuditedClaim audited{claim.id, claim.says, check_memory(claim)};
        for (const auto& check : {check_rates, check_simulated}) {
            const std::vector<Finding> findings = check(claim);
            audited.findings.insert(audited.findings.end(), findings.begin(), findings.end());
        }
        out.push_back(std::move(audited));
    }
    return out;
}

const char* verdict_name(Verdict verdict) {
    // In the order of the enumeration.
    static constexpr const char* kNames[] = {"possible", "doubtful", "impossible"};
    return kNames[static_cast<std::size_t>(verdict)];
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
    if (const auto peak = claim.profile.number("gpu.bf16_dense_tflops"))
        out.push_back(flops_finding(claim, gpus(claim) * *peak * kTera));
    // Weights that do not fit on the devices cross the link in every step, for any choice of
    // resident weights.
    const double moved = kBf16 * parameters(claim) - device_bytes(claim);
    const LinkSpec& link = claim.machine.link;
    if (moved > 0)
        out.push_back(tokens_finding(
            claim, "link",
            fmt::format("at least {} of weights copied in and of gradients copied out",
                        format_bytes(moved)),
            std::max(moved / link.host_to_device, moved / link.device_to_host) / gpus(claim)));
    if (spilled(claim, kFullState) > 0 && claim.storage_gb > 0) {
        if (claim.machine.storage.known())
            out.push_back(storage_finding(claim));
        else
            out.push_back(
                {Verdict::doubtful, "storage",
                 fmt::format("{} of states read and written every step, at rates that "
                             "the profile does not know",
                             format_bytes(spilled(claim, kFullState))),
                 "storage_read_gb_per_s and storage_write_gb_per_s of the machine, in the claim"});
    }
    return out;
}

}  // namespace sluice

// Which of a profile's numbers does a spec use, and which assumptions follow?
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/specs/machine/machine_number.h"

namespace sluice {

/// Takes numbers out of a profile and notes which ones, the assumptions and the confidence. How far
/// a number is trusted is in its row of the table. Precondition of all paths: a row has them.
class SpecReader {
  public:
    explicit SpecReader(const MachineProfile& profile) : profile_(profile) {}

    /// The number in the profile's unit; empty if it is missing or null.
    std::optional<double> take(std::string_view path);
    /// Throws InputError if the number is missing or null.
    double required(std::string_view path);
    /// An overhead or the size of a context, which hardly changes a prediction: the H200's if it is
    /// missing.
    double constant(const MachineNumber& row);
    /// First and second column of the curve, in the profile's units; empty if it is missing.
    std::vector<std::pair<double, double>> take_curve(std::string_view path);
    /// All columns.
    std::vector<std::vector<double>> take_rows(std::string_view path);
    /// Null if the profile has no measured times of that kernel.
    std::optional<KernelTable> take_kernels(std::string_view path);

    bool knows(std::string_view path) const;
    const MachineProfile& profile() const { return profile_; }

    /// Adds an assumption, once.
    void say(std::string sentence);
    /// Adds an assumption before all others: a doubt about the machine itself.
    void say_first(std::string sentence);
    /// Adds the assumption that replaces a rate not measured here; for Trust::others in a list of
    /// its own.
    void assume(Trust trust, std::string sentence);
    /// assume() for several numbers in one sentence: before (name, name, ...) after.
    void assume_of(Trust trust, std::string_view before, std::string_view name,
                   std::string_view after);
    /// An assumption of plans that use the number's section.
    void say_where_used(std::string_view path, std::string sentence);
    /// Moves the collected assumptions and inputs into `machine`.
    void finish(MachineSpec& machine);

  private:
    struct Sentence {
        std::string before, names, after;
        std::string text() const { return before + names + after; }
    };
    std::vector<Sentence>& sentences_of(Trust trust);
    /// Notes that the spec uses an entry of the profile.
    template <typename Entry>
    void judge(const Entry& entry, std::string_view path, const std::string& subject);

    const MachineProfile& profile_;
    Confidence confidence_ = Confidence::measured;
    std::vector<Sentence> assumptions_, others_assumptions_;
    std::vector<std::pair<std::string, std::string>> where_used_;  ///< path and sentence
    std::vector<std::string> inputs_;
    bool constants_assumed_ = false;
};

// Traits of a row whose type alone does not tell their meaning.
struct Required {};
struct OnH200 {
    double value;  ///< in the number's unit
};
struct MeasuredBy {
    const char* case_name;  ///< nullptr: no case
};
/// An achieved rate is below the vendor's peak; some processors run a little faster.
struct AtMost {
    const char* peak;
    double times = 1.1;
    const char* faster_peak = nullptr;  ///< counts instead where a profile has it
};
struct ReplacedBy {
    const char* path;  ///< nullptr: no number
};
struct AtLeast {
    double value;
};
struct Judges {
    RateGroup group;
};
struct GainsFrom {
    Parts parts;
};
struct Shown {
    const char *label, *help;
};

/// A row of the table: the number's path, then its traits in any order.
template <typename... Traits>
constexpr MachineNumber row(std::string_view path, Traits... traits) {
    MachineNumber out;
    out.path = path;
    const auto set = [&out](auto trait) {
        using Trait = decltype(trait);
        if constexpr (std::is_same_v<Trait, ValueKind>) out.kind = trait;
        if constexpr (std::is_same_v<Trait, CurveShape>) out.shape = trait;
        if constexpr (std::is_same_v<Trait, Trust>) out.trust = trait;
        if constexpr (std::is_same_v<Trait, RateGroup>) out.group = trait;
        if constexpr (std::is_same_v<Trait, Transfer>) out.transfer = trait;
        // Clang 16 with the library of GCC 12 cannot assign to a variant's alternative here.
        using Rule = decltype(out.rule);
        if constexpr (std::is_constructible_v<Member, Trait>) out.member = Member(trait);
        if constexpr (std::is_constructible_v<Rule, Trait>) out.rule = Rule(trait);
        if constexpr (std::is_same_v<Trait, Required>) out.required = true;
        if constexpr (std::is_same_v<Trait, OnH200>) out.h200 = trait.value;
        if constexpr (std::is_same_v<Trait, MeasuredBy>) out.measured_by = trait.case_name;
        if constexpr (std::is_same_v<Trait, AtLeast>) out.least = trait.value;
        if constexpr (std::is_same_v<Trait, AtMost>) {
            out.peak = trait.peak;
            out.most_of_peak = trait.times;
            out.faster_peak = trait.faster_peak;
        }
        if constexpr (std::is_same_v<Trait, ReplacedBy>) out.replaced_by = trait.path;
        if constexpr (std::is_same_v<Trait, GainsFrom>) out.parts = trait.parts;
        if constexpr (std::is_same_v<Trait, Judges>) {
            out.group = trait.group;
            out.judges_group = true;
        }
        if constexpr (std::is_same_v<Trait, Shown>) {
            out.label = trait.label;
            out.help = trait.help;
        }
    };
    (set(traits), ...);
    return out;
}

/// The rows of the table: `gpu` and `kernels`; `link`; `host` and `host.work`; `storage`,
/// `gpu_interconnect` and `network`; `power`.
std::span<const MachineNumber> gpu_numbers();
std::span<const MachineNumber> link_numbers();
std::span<const MachineNumber> host_numbers();
std::span<const MachineNumber> node_numbers();
std::span<const MachineNumber> power_numbers();

/// GB/s of host memory. Not used by a step if contention is measured. Throws InputError if no
/// number gives it.
double host_memory_gb_per_s(SpecReader& reader);

/// If one of its numbers is missing, the clock is always the highest. Throws InputError if they
/// contradict each other.
ClockSpec resolve_clock(SpecReader& reader);

}  // namespace sluice

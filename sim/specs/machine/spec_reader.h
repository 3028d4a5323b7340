// Which of a profile's numbers does a spec rest on, and what has to be said of them?
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// What a number may be without weakening the prediction.
enum class Trust {
    as_given,   ///< a size or a count that the user knows: whatever the profile says
    datasheet,  ///< a peak that a measured share is taken of: not estimated
    measured,   ///< a rate
};

/// Takes numbers out of a profile; keeps which ones, what was assumed and how far to trust it all.
class SpecReader {
  public:
    explicit SpecReader(const MachineProfile& profile) : profile_(profile) {}

    /// Nothing where the number is missing or null.
    std::optional<double> take(std::string_view path, Trust trust = Trust::measured);
    /// Throws InputError where the number is missing or null.
    double required(std::string_view path, Trust trust);
    /// An overhead or the size of a context, which hardly moves a prediction: the H200's where it
    /// is missing.
    double constant(std::string_view path, double h200, Trust trust);
    /// What only schedules of other systems rest on: it lowers no one else's confidence.
    std::optional<double> take_for_others(std::string_view path);
    /// constant() of that kind.
    double constant_for_others(std::string_view path, double h200);
    /// First and second column of the curve, empty where it is missing.
    std::vector<std::pair<double, double>> take_curve(std::string_view path);
    /// take_curve() of what only schedules of other systems rest on.
    std::vector<std::pair<double, double>> take_curve_for_others(std::string_view path);
    /// All columns.
    std::vector<std::vector<double>> take_rows(std::string_view path);
    /// Nothing where the profile has no measured times of that kernel.
    std::optional<KernelTable> take_kernels(KernelTableId id);

    bool knows(std::string_view path) const;
    const MachineProfile& profile() const { return profile_; }

    /// Says a sentence once.
    void say(std::string sentence);
    /// say(), before all others: what puts the machine itself in doubt.
    void say_first(std::string sentence);
    /// Says what takes the place of a rate that is not measured here.
    void transfer(std::string sentence);
    /// The same for a rate that only schedules of other systems rest on (PyTorch's own kernels and
    /// host work).
    void transfer_for_others(std::string sentence);
    /// Hands over what was gathered.
    void finish(MachineSpec& machine);

  private:
    void judge(Method method, Trust trust, const std::string& subject, const std::string& reason);

    const MachineProfile& profile_;
    Confidence confidence_ = Confidence::measured;
    std::vector<std::string> assumptions_;
    std::vector<std::string> inputs_;
    std::vector<std::string> others_assumptions_;
    bool constants_assumed_ = false;
};

/// The parts of a MachineSpec; each takes its numbers from the reader.
GpuSpec resolve_gpu(SpecReader& reader);
LinkSpec resolve_link(SpecReader& reader, bool unified_memory);
HostSpec resolve_host(SpecReader& reader, const LinkSpec& link, bool unified_memory);
StorageSpec resolve_storage(SpecReader& reader);

}  // namespace sluice

// How is a profile written as JSON: numbers, curves and kernel tables, each with its origin?
// (docs/machine-profiles.md has the schema.)
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/specs/machine/kernel_measurement.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// Significant digits of a profile: rounding changes a number by at most 5e-6, a point of a curve
/// by at most 5e-5, which no prediction shows.
inline constexpr int kNumberDigits = 6;
inline constexpr int kPointDigits = 5;

/// The origin of a number, as in Quantity; `source` is a key of the profile's sources.
struct Origin {
    Method method = Method::measured;
    std::string source;
    std::string date;
    std::string note;  ///< how it was measured; "" is left out
};

/// A profile under construction. Paths are those of machine_number.h: "link.copy_latency_us". If a
/// path is set twice, the last one counts.
class ProfileJson {
  public:
    explicit ProfileJson(const std::string& name);
    ~ProfileJson();
    ProfileJson(const ProfileJson&) = delete;
    ProfileJson& operator=(const ProfileJson&) = delete;

    void add_source(const std::string& key, const std::string& text);
    void add_note(const std::string& sentence);
    void set_text(std::string_view path, const std::string& text);
    void set_flag(std::string_view path, bool value);
    /// `range`: 5th to 95th percentile, in the number's unit.
    void set_number(std::string_view path, double value, const std::optional<RateRange>& range,
                    const Origin& origin);
    /// Rows in ascending order of the first column. `columns`: the names, with units.
    void set_curve(std::string_view path, const std::vector<std::string>& columns,
                   std::vector<std::vector<double>> points, const Origin& origin);
    void set_kernel_table(const KernelMeasurement& table, const Origin& origin);
    bool has(std::string_view path) const;
    void remove(std::string_view path);

    /// Takes entries that are not set here from another profile's text, each with its own origin,
    /// and the sources that these need; not those at or below one of the paths `left_out`. `id`
    /// distinguishes the other's sources from those with the same key here. Returns the paths
    /// taken. Precondition: the text is a profile that parse_machine_profile() accepts.
    std::vector<std::string> take_missing(std::string_view profile, const std::string& id,
                                          const std::vector<std::string>& left_out);

    /// The whole file; sections and keys in the order of machine_number.h.
    std::string text() const;

  private:
    nlohmann::ordered_json& at(std::string_view path);
    /// The key here of another profile's source; adds it if it is new.
    std::string own_source(const std::string& key, const std::string& text, const std::string& id);

    std::unique_ptr<nlohmann::ordered_json> root_;
};

}  // namespace sluice

// Which profiles do the tests make of synthetic machines, and of which base?
#pragma once

#include <nlohmann/json.hpp>

#include "calibrate/profile/make_profile.h"
#include "tests/calibrate/profile/synthetic_machine.h"
#include "tests/catch.h"

namespace sluice {

inline std::string profile_text(const Measurements& m,
                                const std::optional<BaseProfile>& base = {}) {
    return make_profile(m, fit_machine(m), base);
}

inline MachineProfile profile_of(const Measurements& m,
                                 const std::optional<BaseProfile>& base = {}) {
    return parse_machine_profile(profile_text(m, base), "my-machine.json", "my-machine");
}

inline double value(const MachineProfile& profile, const char* path) {
    INFO(path);
    const Quantity* quantity = profile.find(path);
    REQUIRE(quantity != nullptr);
    return *quantity->value;
}

/// A small profile with what no calibration measures, and some of what it does.
inline BaseProfile base_profile() {
    const auto number = [](double value, const char* method, const char* source) {
        return nlohmann::json{{"value", value},
                              {"method", method},
                              {"source", source},
                              {"date", "2025-01-01"},
                              {"note", "of the base"}};
    };
    const nlohmann::json json = {
        {"schema", "sluice-machine/1"},
        {"name", "base"},
        {"sources",
         {{"sheet", "a datasheet"},
          {"calibration", "an older calibration"},
          {"unused", "not needed"}}},
        {"gpu",
         {{"name", "other name"},
          {"memory_capacity_gb", number(141, "datasheet", "sheet")},
          {"bf16_dense_tflops", number(989, "datasheet", "sheet")},
          {"tdp_w", number(700, "datasheet", "sheet")}}},
        {"kernels", {{"eager_launch_us", number(5, "measured", "calibration")}}},
        {"link", {{"type", "PCIe 5.0 x16"}}},
        {"host",
         {{"copy_traffic_weight", number(0.6, "measured", "sheet")},
          {"work",
           {{"zero_gb_per_s", number(78, "measured", "sheet")},
            {"copy_gb_per_s", number(52, "measured", "sheet")}}}}},
        {"price",
         {{"gpu_usd", number(30000, "estimated", "sheet")},
          {"rent_usd_per_gpu_hour", {{"Cloud", number(2.5, "datasheet", "sheet")}}}}}};
    return {"base-machine", json.dump()};
}

}  // namespace sluice

// A machine of round numbers for tests, all of them measured, so that every change shows.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

inline nlohmann::json measured_number(double value) {
    return {{"value", value}, {"method", "measured"}, {"source", "me"}, {"date", "2026-01-02"}};
}

inline nlohmann::json measured_points(nlohmann::json points) {
    return {{"points", std::move(points)},
            {"method", "measured"},
            {"source", "me"},
            {"date", "2026-01-02"}};
}

/// Only what a prediction cannot do without.
inline nlohmann::json small_profile() {
    return {{"schema", "sluice-machine/1"},
            {"name", "test machine"},
            {"sources", {{"me", "measured by me"}, {"mine", "another of mine"}}},
            {"gpu",
             {{"name", "test GPU"},
              {"memory_capacity_gb", measured_number(80)},
              {"memory_bandwidth_gb_per_s", measured_number(4800)},
              {"bf16_dense_tflops", measured_number(989)}}},
            {"link", {{"type", "PCIe"}, {"raw_per_direction_gb_per_s", measured_number(63)}}},
            {"host",
             {{"name", "test host"},
              {"unified_memory", false},
              {"cores", measured_number(8)},
              {"memory_capacity_gb", measured_number(256)},
              {"memory_bandwidth_gb_per_s", measured_number(200)}}}};
}

/// Adds a GPU that draws 100 W idle, 700 W at its power limit and 1000 W at its highest clock in
/// large products, which take 0.8 of the time then and 1.2 J a TFLOP; 600 W and 0.2 J a GB in
/// copies; 500 W and 1.5 J a TFLOP in attention; it may draw 15 J beyond its limit.
inline void add_clock_numbers(nlohmann::json& profile) {
    profile["kernels"]["rested_time_share"] = measured_number(0.8);
    profile["power"] = {{"idle_w", measured_number(100)},
                        {"gemm_w", measured_number(700)},
                        {"gemm_rested_w", measured_number(1000)},
                        {"gemm_rested_joules_per_tflop", measured_number(1.2)},
                        {"memory_w", measured_number(600)},
                        {"memory_joules_per_gb", measured_number(0.2)},
                        {"attention_w", measured_number(500)},
                        {"attention_joules_per_tflop", measured_number(1.5)},
                        {"headroom_j", measured_number(15)}};
}

inline MachineProfile parse_profile(const nlohmann::json& profile) {
    return parse_machine_profile(profile.dump(), "my/machine.json", "machine");
}

inline constexpr const char* kMeasuredMachine = "h200-pcie5-16vcpu-128gib";

inline MachineSpec resolve(const nlohmann::json& profile) {
    return resolve_machine(parse_profile(profile));
}

/// One of the spec's assumptions has this part.
inline bool assumes(const MachineSpec& machine, const char* part) {
    return std::any_of(
        machine.assumptions.begin(), machine.assumptions.end(),
        [&](const std::string& sentence) { return sentence.find(part) != std::string::npos; });
}

}  // namespace sluice

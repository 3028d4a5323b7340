#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/audit/audit.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

constexpr const char* kSchema = "sluice.claims.1";

/// Sets the object's options in `training`; returns them as text.
std::string read_training(const JsonObject& object, TrainingSpec& training) {
    set_options(training, object);
    if (!training.schedule->ours && !object.has("clipping"))
        training.clipping = TrainingSpec().clipping;
    check_training_spec(training);
    std::string words;
    for (const std::string& key : object.keys())
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", key, object.scalar_text(key));
    return words;
}

Schedule read_schedule(const JsonObject& object, const char* key) {
    TrainingSpec training;
    set_option(training, training_option("schedule"), object.text(key), object.where(key));
    return training.schedule;
}

void read_busy(const JsonObject& object, Claim& claim) {
    for (const JsonObject& one : object.objects("gpu_busy")) {
        one.allow_only({"training", "low", "high"});
        BusyClaim busy;
        busy.training = claim.training;
        if (const auto training = one.object_or_none("training"))
            busy.settings = read_training(*training, busy.training);
        busy.low = one.number_or_none("low", 0, 1).value_or(0);
        busy.high = one.number_or_none("high", busy.low, 1).value_or(1);
        claim.busy.push_back(busy);
    }
}

void read_machine(const JsonObject& object, Claim& claim) {
    claim.profile = read_machine_profile(object.text("machine"), object.where("machine").c_str());
    claim.host_memory_gb = object.number_or_none("host_memory_gb", 1, kGiga);
    if (claim.host_memory_gb) claim.profile.set("host.memory_capacity_gb", *claim.host_memory_gb);
    claim.gpu_memory_gb = object.number_or_none("gpu_memory_gb", 1, kMega);
    claim.storage_gb = object.number_or_none("storage_gb", 0, kGiga).value_or(0);
    if (claim.storage_gb > 0) claim.profile.set("storage.capacity_gb", claim.storage_gb);
    for (const char* rate : {"read_gb_per_s", "write_gb_per_s"})
        if (const auto value = object.number_or_none(fmt::format("storage_{}", rate), 1e-3, kMega))
            claim.profile.set(fmt::format("storage.{}", rate), *value);
    claim.machine = resolve_machine(claim.profile);
}

Claim read_claim(const JsonObject& object) {
    object.allow_only({"id", "says", "model", "machine", "training", "gpu_memory_gb",
                       "host_memory_gb", "storage_gb", "storage_read_gb_per_s",
                       "storage_write_gb_per_s", "tokens_per_s", "speedup", "gpu_busy"});
    Claim claim;
    // A claim is of a machine at its best: no update waits for the norm.
    claim.training.clipping = Clipping::speculative;
    claim.id = object.text("id");
    claim.says = object.text("says");
    claim.model = read_model(object.text("model"), object.where("model"));
    read_machine(object, claim);
    if (const auto training = object.object_or_none("training")) {
        claim.batch_given = training->has("batch");
        read_training(*training, claim.training);
    }
    claim.tokens_per_s = object.number_or_none("tokens_per_s", 1e-3, 1e12);
    if (const auto speedup = object.object_or_none("speedup")) {
        speedup->allow_only({"over", "times"});
        claim.speedup =
            SpeedupClaim{read_schedule(*speedup, "over"), speedup->number("times", 1e-3, 1e6)};
    }
    if (object.has("gpu_busy")) read_busy(object, claim);
    return claim;
}

}  // namespace

ClaimFile parse_claims(std::string_view text, const std::string& file) {
    const JsonObject root = JsonObject::parse(text, file);
    root.allow_only({"schema", "source", "claims"});
    if (root.text("schema") != kSchema)
        throw InputError(fmt::format("{} is \"{}\", expected \"{}\"", root.where("schema"),
                                     root.text("schema"), kSchema));
    ClaimFile out;
    out.source = root.text("source");
    for (const JsonObject& object : root.objects("claims")) {
        out.claims.push_back(read_claim(object));
        const std::string& id = out.claims.back().id;
        const auto same = std::count_if(out.claims.begin(), out.claims.end(),
                                        [&](const Claim& claim) { return claim.id == id; });
        if (same > 1)
            throw InputError(
                fmt::format("{} is \"{}\", which another claim has too; give each its "
                            "own",
                            object.where("id"), id));
    }
    if (out.claims.empty())
        throw InputError(fmt::format("{} is empty; state at least one", root.where("claims")));
    return out;
}

}  // namespace sluice

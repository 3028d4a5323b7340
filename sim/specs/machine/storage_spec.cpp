#include <fmt/format.h>

#include "sim/specs/machine/spec_reader.h"

namespace sluice {
namespace {

/// A number of storage; nobody's confidence rests on it but that of schedules that use storage,
/// which say so.
double storage_number(SpecReader& reader, const char* path, StorageSpec& storage) {
    const auto value = reader.take(path, Trust::as_given);
    if (!value) return 0;
    const Quantity& quantity = *reader.profile().find(path);
    if (quantity.method != Method::measured) {
        storage.assumptions.push_back(
            fmt::format("{} {:g} is {} ({})", path, *value, method_name(quantity.method),
                        quantity.note.empty() ? quantity.source : quantity.note));
    }
    return *value;
}

}  // namespace

StorageSpec resolve_storage(SpecReader& reader) {
    StorageSpec storage;
    const auto number = [&](const char* path) { return storage_number(reader, path, storage); };
    storage.read = number("storage.read_gb_per_s") * kGiga;
    storage.write = number("storage.write_gb_per_s") * kGiga;
    storage.latency = number("storage.latency_us") / kMega;
    storage.capacity = static_cast<Bytes>(number("storage.capacity_gb") * kGiga);
    return storage;
}

}  // namespace sluice

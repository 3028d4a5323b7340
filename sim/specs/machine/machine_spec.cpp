#include "sim/specs/machine/machine_spec.h"

#include "sim/specs/machine/spec_reader.h"

namespace sluice {

const char* confidence_name(Confidence confidence) {
    switch (confidence) {
        case Confidence::measured:
            return "measured";
        case Confidence::transferred:
            return "transferred";
        case Confidence::datasheet:
            return "datasheet";
    }
    return "";
}

MachineSpec resolve_machine(const MachineProfile& profile) {
    SpecReader reader(profile);
    MachineSpec machine;
    machine.id = profile.id;
    machine.name = profile.name;
    machine.changes = profile.changes;
    machine.unified_memory = profile.flag("host.unified_memory");
    machine.gpu = resolve_gpu(reader);
    machine.link = resolve_link(reader, machine.unified_memory);
    machine.host = resolve_host(reader, machine.link, machine.unified_memory);
    machine.storage = resolve_storage(reader);
    machine.ranges = resolve_ranges(profile);
    machine.interconnect = resolve_interconnect(profile);
    reader.finish(machine);
    machine.inputs.insert(machine.inputs.end(), machine.interconnect.inputs.begin(),
                          machine.interconnect.inputs.end());
    return machine;
}

}  // namespace sluice

// Which machine of the library is most like one whose GPU and processors are known?
#pragma once

#include <optional>
#include <string>

namespace sluice {

struct LibraryMatch {
    std::string id;
    double cores = 0;  ///< logical ones, of its host
};

/// Among the machines with that GPU, named as its driver does, the one whose number of cores is
/// nearest; if several are, the one that was measured last. Empty if none has that GPU.
std::optional<LibraryMatch> library_machine_with(const std::string& driver_name, double cores);

}  // namespace sluice

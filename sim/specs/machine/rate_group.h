// Which rates of a machine are off together?
#pragma once

#include <cstdint>

namespace sluice {

/// Rates that are off together: one source of error in a prediction's band.
enum class RateGroup : std::uint8_t {
    none,
    kernels,
    optimizer,
    host_work,    ///< all other work of the processor
    host_memory,  ///< rates under contention
    link,         ///< copies alone
    storage,
    interconnect,  ///< collectives within a node
    network,       ///< between nodes
};

}  // namespace sluice

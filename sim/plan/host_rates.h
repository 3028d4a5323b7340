// How fast does a host update parameters and feed the link, each alone? A run can measure that
// within a second at its start.
#pragma once

namespace sluice {

struct HostRates {
    double adam = 0;                                ///< parameters/s; 0: not known
    double host_to_device = 0, device_to_host = 0;  ///< page-locked copies, bytes/s
    bool known() const { return adam > 0; }
};

}  // namespace sluice

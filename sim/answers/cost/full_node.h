// How many such jobs run on one node, how fast is each, and what do tokens cost then?
#pragma once

#include <optional>

#include "sim/answers/cost/cost.h"

namespace sluice {

/// Equal jobs that fill a node.
struct FullNode {
    double jobs = 1;
    NodePart limit = NodePart::gpus;  ///< what is left is too little for another job
    double tokens_per_s = 0;          ///< of each
    double of_alone = 1;              ///< that speed over the speed of one job alone
    /// One job's part of the whole node: what it pays, and its run. Empty if no price is known.
    std::optional<PaidRun> paid;
};

/// The node with as many jobs as its GPUs, host memory and cores allow. Each is simulated with its
/// part of cores and host memory bandwidth; jobs beyond the number of sockets share a socket's
/// bandwidth. With less host memory than the node is sold with, that decides. Empty if the node is
/// not known, has one GPU, or the plan does not fit.
std::optional<FullNode> full_node(const Prediction& report, const MachineSpec& machine,
                                  const MachineMoney& money, const CostQuery& query);

/// Jobs that fit on a node with this share each, and the part that limits them. Precondition:
/// node_gpus is known.
std::pair<double, NodePart> jobs_of_a_node(const NodeShare& share, double cores);

}  // namespace sluice

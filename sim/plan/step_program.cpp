#include "sim/plan/step_program.h"

#include <fmt/format.h>

namespace sluice {

const char* lane_name(Lane lane) {
    switch (lane) {
        case Lane::host_to_device:
            return "host_to_device";
        case Lane::compute:
            return "compute";
        case Lane::device_to_host:
            return "device_to_host";
        case Lane::optimizer:
            return "optimizer";
        case Lane::host:
            return "host";
        case Lane::storage_read:
            return "storage_read";
        case Lane::storage_write:
            return "storage_write";
        case Lane::interconnect:
            return "interconnect";
        case Lane::python:
            return "python";
    }
    return "";
}

const char* operation_name(OperationKind kind) {
    switch (kind) {
        case OperationKind::copy_embeddings_in:
            return "embeddings in";
        case OperationKind::copy_weights_in:
            return "weights in";
        case OperationKind::copy_checkpoint_in:
            return "checkpoint in";
        case OperationKind::unflatten:
            return "unflatten";
        case OperationKind::forward:
            return "forward";
        case OperationKind::loss:
            return "loss";
        case OperationKind::backward:
            return "backward";
        case OperationKind::embedding_backward:
            return "embedding backward";
        case OperationKind::copy_gradients_out:
            return "gradients out";
        case OperationKind::copy_gradients_in:
            return "gradients in";
        case OperationKind::copy_checkpoint_out:
            return "checkpoint out";
        case OperationKind::update:
            return "update";
        case OperationKind::scatter_embeddings:
            return "scatter embeddings";
        case OperationKind::gather_embeddings:
            return "gather embeddings";
        case OperationKind::collect_gradients:
            return "collect gradients";
        case OperationKind::clip_gradients:
            return "clip gradients";
        case OperationKind::copy_to_pinned:
            return "copy to pinned";
        case OperationKind::zero_gradients:
            return "zero gradients";
        case OperationKind::read_weights:
            return "read weights";
        case OperationKind::write_weights:
            return "write weights";
        case OperationKind::write_gradients:
            return "write gradients";
        case OperationKind::read_states:
            return "read states";
        case OperationKind::write_states:
            return "write states";
        case OperationKind::all_gather:
            return "all-gather";
        case OperationKind::reduce_scatter:
            return "reduce-scatter";
        case OperationKind::all_reduce:
            return "all-reduce";
        case OperationKind::join_gradients:
            return "join gradients";
        case OperationKind::issue:
            return "issue";
    }
    return "";
}

const char* lane_label(Lane lane) {
    switch (lane) {
        case Lane::host_to_device:
            return "H2D";
        case Lane::compute:
            return "compute";
        case Lane::device_to_host:
            return "D2H";
        case Lane::optimizer:
            return "optimizer";
        case Lane::host:
            return "host";
        case Lane::storage_read:
            return "read";
        case Lane::storage_write:
            return "write";
        case Lane::interconnect:
            return "interconnect";
        case Lane::python:
            return "Python";
    }
    return "";
}

std::string operation_label(const Operation& operation, int layers) {
    const char* name = operation_name(operation.kind);
    if (operation.kind == OperationKind::loss) return name;
    if (operation.layer == kEmbeddingLayer) {
        const bool says_so = std::string_view(name).find("embedding") != std::string_view::npos;
        return says_so || operation.lane == Lane::optimizer ? name
                                                            : fmt::format("{} (embedding)", name);
    }
    if (operation.layer == layers) return fmt::format("{} (head)", name);
    return operation.micro_batch == 0
               ? fmt::format("{} {}", name, operation.layer)
               : fmt::format("{} {} micro-batch {}", name, operation.layer, operation.micro_batch);
}

Flops StepProgram::flops() const {
    std::vector<Flops> of_list;
    for (const KernelList& list : kernel_lists) of_list.push_back(total_flops(list));
    Flops total = 0;
    for (const Operation& operation : operations) {
        for (const std::int32_t list : operation.kernels)
            total += of_list[static_cast<std::size_t>(list)];
    }
    return total;
}

}  // namespace sluice

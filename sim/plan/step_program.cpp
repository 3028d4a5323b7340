#include "sim/plan/step_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

struct KindRow {
    OperationKind kind;
    Work work;
    const char* name;
    bool of_embedding = false;  ///< always, so that its name says so
};

const KindRow& row_of(OperationKind one) {
    using enum Work;
    using enum OperationKind;
    static constexpr KindRow kRows[] = {
        {copy_embeddings_in, host_to_device, "embeddings in", true},
        {copy_weights_in, host_to_device, "weights in"},
        {copy_checkpoint_in, host_to_device, "checkpoint in"},
        {copy_kept_in, host_to_device, "kept in"},
        {copy_states_in, host_to_device, "states in"},
        {unflatten, compute, "unflatten"},
        {forward, compute, "forward"},
        {loss, compute, "loss"},
        {backward, compute, "backward"},
        {embedding_backward, compute, "embedding backward", true},
        {copy_gradients_out, device_to_host, "gradients out"},
        {copy_gradients_in, host_to_device, "gradients in"},
        {copy_checkpoint_out, device_to_host, "checkpoint out"},
        {copy_kept_out, device_to_host, "kept out"},
        {copy_weights_out, device_to_host, "weights out"},
        {copy_states_out, device_to_host, "states out"},
        {update_ahead, optimizer, "update ahead"},
        {update, optimizer, "update"},
        {update_moments, optimizer, "update moments"},
        {scatter_embeddings, optimizer, "scatter embeddings", true},
        {gather_embeddings, optimizer, "gather embeddings", true},
        {collect_gradients, host, "collect gradients"},
        {clip_gradients, optimizer, "clip gradients"},
        {copy_to_pinned, optimizer, "copy to pinned"},
        {zero_gradients, optimizer, "zero gradients"},
        {flatten_weights, optimizer, "flatten weights"},
        {read_weights, storage_read, "read weights"},
        {write_weights, storage_write, "write weights"},
        {write_gradients, storage_write, "write gradients"},
        {read_states, storage_read, "read states"},
        {write_states, storage_write, "write states"},
        {all_gather, interconnect, "all-gather"},
        {reduce_scatter, interconnect, "reduce-scatter"},
        {all_reduce, interconnect, "all-reduce"},
        {join_gradients, compute, "join gradients"},
        {issue, python, "issue"},
    };
    static_assert(in_order(kRows, &KindRow::kind));
    return kRows[static_cast<std::size_t>(one)];
}

}  // namespace

const char* operation_name(OperationKind kind) { return row_of(kind).name; }
Work usual_work(OperationKind kind) { return row_of(kind).work; }

std::string micro_batches_text(const Operation& operation) {
    const std::int32_t first = operation.micro_batch;
    return operation.micro_batches == 1
               ? std::to_string(first)
               : fmt::format("{} to {}", first, first + operation.micro_batches - 1);
}

std::string operation_label(const Operation& operation, int layers) {
    const char* name = operation_name(operation.kind);
    if (operation.kind == OperationKind::loss) return name;
    if (operation.layer == kEmbeddingLayer) {
        const bool is_clear = row_of(operation.kind).of_embedding;
        return is_clear || operation.lane.work == Work::optimizer
                   ? name
                   : fmt::format("{} (embedding)", name);
    }
    if (operation.layer == layers) return fmt::format("{} (head)", name);
    const std::string label = fmt::format("{} {}", name, operation.layer);
    if (operation.micro_batches > 1)
        return fmt::format("{} micro-batches {}", label, micro_batches_text(operation));
    return operation.micro_batch == 0
               ? label
               : fmt::format("{} micro-batch {}", label, operation.micro_batch);
}

Flops StepProgram::flops() const {
    std::vector<Flops> of_list;
    for (const KernelList& list : kernel_lists) of_list.push_back(total_flops(list));
    Flops total = 0;
    for (const Operation& operation : operations) {
        for (const std::int32_t list : operation.kernels)
            total += operation.kernel_runs * of_list[static_cast<std::size_t>(list)];
    }
    return total;
}

int StepProgram::devices() const {
    int most = 0;
    for (const Operation& operation : operations) most = std::max<int>(most, operation.lane.device);
    if (most >= kMostDevices)
        throw InternalError(fmt::format("a plan has lanes on {} devices, expected at most {}",
                                        most + 1, kMostDevices));
    return most + 1;
}

OperationId find_operation(const StepProgram& program, OperationKind kind, int layer) {
    for (std::size_t i = 0; i < program.operations.size(); ++i)
        if (program.operations[i].kind == kind && program.operations[i].layer == layer)
            return static_cast<OperationId>(i);
    throw InternalError(fmt::format("the plan has no {} of layer {}", operation_name(kind), layer));
}

}  // namespace sluice

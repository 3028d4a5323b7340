// ZeRO-Infinity: ZeRO-3 of DeepSpeed on one GPU with parameters and optimizer states on NVMe (from
// reading DeepSpeed at commit edaa722, after its release 0.19.5:
// runtime/swap_tensor/partitioned_param_swapper.py, pipelined_optimizer_swapper.py,
// optimizer_utils.py, async_swapper.py and utils.py, runtime/zero/stage3.py and
// partitioned_param_coordinator.py, csrc/pin_memory/page_alloc.cpp).
// Settings: those of zero3-offload; offload_optimizer and offload_param to nvme, pipeline_read,
// pipeline_write, buffer_count 12 for the optimizer (three sub-groups of four: one is written, one
// updated, one read), buffer_size the largest tensor and buffer_count the least of at least 5 with
// which no fetch finds all buffers taken (the defaults of 1e8 and 5 fail); max_in_cpu 1e9.
//
// Parameters: a module's parameters are read into buffers of host memory. The module waits for all
// reads in flight; then they are copied to the device. Parameters after the prefetched ones are
// read ahead (zero3.h). A parameter keeps its buffer as long as it is on the device. DeepSpeed's
// buffers are locked pages that CUDA does not know, so their copies block the host and are as slow
// as from pageable memory. A parameter that occurs twice in the read-ahead, as where a module is
// recomputed and then differentiated, is read once (the source would stop there).
//
// Gradients: as in zero3-offload, but the fp32 ones go to the optimizer's buffers, and each buffer
// is written when it is full. The host waits for every bucket. Micro-batches (zero3.h): only the
// last gradients go to those buffers; the sums of the others are in host memory.
//
// Update: sub-group by sub-group, masters, moments and gradients are read (the next sub-group while
// one is updated), scaled and updated. The host waits while the bf16 parameters are written.
// Masters and moments are written while the next sub-group is updated; the host waits for them
// before it writes the next sub-group's.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/input_error.h"
#include "sim/plan/schedules/zero3.h"

namespace sluice {
namespace {

constexpr double kStates = 3 * kFp32;         // master and moments of a parameter
constexpr double kMostInHost = 1e9;           // max_in_cpu
constexpr std::int64_t kSmallest = kMiB / 2;  // elements: a tensor below 1 MiB is not swapped
constexpr int kFewestBuffers = 5;             // buffer_count's default
// buffer_count of offload_optimizer: master, moments and gradient of three sub-groups.
constexpr std::size_t kOptimizerBuffers = 12;
constexpr double kReadToUpdate = kStates + kFp32;

class ZeroInfinity : public Zero3Pass {
  public:
    ZeroInfinity(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : Zero3Pass(model, machine, training, kReduceBucketElements),
          layout_(model, modules_, sub_group_elements(training, kZero3SubGroupElements)),
          fetches_(layout_.fetches(layout_.parameter_buffers)),
          copied_(modules_.elements().size(), -1) {}

  private:
    void declare() override {
        declare_memory();
        declare_parameters_that_stay();
        Zero3Pass::declare();
    }
    void finish() override {
        say_assumptions();
        declare_moments();
    }

    void declare_memory() {
        const double all = all_parameters(model_);
        const auto on_storage = [&](const char* name, Kind kind, double bytes) {
            build_.standing(name, kind, Tier::storage, bytes);
        };
        on_storage("bf16 parameters on storage", Kind::weights,
                   kBf16 * layout_.elements_on_storage);
        on_storage("masters and moments on storage", Kind::optimizer_state, 3 * kFp32 * all);
        on_storage("fp32 gradients on storage", Kind::gradients, kFp32 * all);

        declare_processes(machine_, 1, build_);
        pin("pinned bf16 gradients", Kind::gradients, pinned_bytes(kBf16 * all));
        pin("pinned bf16 parameters, max_in_cpu", Kind::weights,
            pinned_bytes(kBf16 * std::min(all, kMostInHost)));
        declare_tables_of_pinned();
        build_.on_host("optimizer's buffers", Kind::pinned_buffers,
                       static_cast<double>(kOptimizerBuffers) * kFp32 * layout_.largest_sub_group);
        if (layout_.elements_on_storage == 0) return;
        build_.on_host("parameter buffers", Kind::pinned_buffers,
                       layout_.parameter_buffers * kBf16 * layout_.largest_tensor);
        build_.on_host("updated parameters of a sub-group", Kind::pinned_buffers,
                       kBf16 * layout_.largest_sub_group);
    }

    void declare_moments() {
        const Bytes steady = build_.host_peak();
        const auto of_group = static_cast<Bytes>(kFp32 * layout_.largest_sub_group);
        build_.host_moments(
            {steady + 2 * of_group, "a sub-group's first masters, and a gradient of zeros"},
            {steady + 2 * of_group, "a sub-group's first moments are not in a buffer yet"},
            {steady, "nothing is freed between steps"}, {steady, "states are on storage already"});
    }

    double bytes_of(const Parameters& parameters) const {
        double bytes = 0;
        for (const int parameter : parameters)
            bytes += kBf16 *
                     static_cast<double>(modules_.elements()[static_cast<std::size_t>(parameter)]);
        return bytes;
    }

    void trace_again() override { fetches_ = layout_.fetches(layout_.parameter_buffers); }

    Fetched fetch(int calls, int layer, const Parameters& used, double eager_operations) override {
        Fetched fetched;
        const double half_a_call = eager_operations / calls / 2;
        for (int i = 0; i < calls; ++i) {
            const ParameterFetches::Call call = fetches_.next();
            python_.work(half_a_call);
            read(call.read_first, layer);
            copy_in(call.missing, layer, call.missing_wait);
            python_.work(half_a_call);
            copy_in(call.prefetched, layer, call.prefetched_wait);
            read(call.read_ahead, layer);
            fetched.released.append(gathered(call.released));
        }
        OperationId last = -1;  // copies run in order, so all have arrived with the last one
        for (const int parameter : used)
            last = std::max(last, copied_[static_cast<std::size_t>(parameter)]);
        fetched.waits = {{last}};
        return fetched;
    }

    void read(const Parameters& parameters, int layer) {
        if (parameters.empty()) return;
        last_read_ = build_.add(OperationKind::read_weights, layer, python_.reached(layer),
                                copy_operation(bytes_of(parameters)));
    }

    void copy_in(const Parameters& parameters, int layer, bool wait_for_reads) {
        if (parameters.empty()) return;
        const bool pageable = std::ranges::any_of(parameters, [this](int parameter) {
            return layout_.on_storage[static_cast<std::size_t>(parameter)];
        });
        Waits waits = python_.reached(layer);
        if (wait_for_reads) waits.push_back({last_read_});
        Operation copy = gather(parameters);
        copy.pageable = pageable;
        const OperationId copied =
            build_.add(OperationKind::copy_weights_in, layer, std::move(waits), std::move(copy));
        if (pageable) python_.wait_for(copied, layer);
        for (const int parameter : parameters)
            copied_[static_cast<std::size_t>(parameter)] = copied;
    }

    OperationId to_optimizer(const SentBucket& sent, int layer) override {
        Waits waits = {{sent.last}};
        if (written_.size() >= kOptimizerBuffers)
            waits.push_back({written_[written_.size() - kOptimizerBuffers]});
        Operation to_buffer = copy_operation(kFp32 * sent.bucket.elements, {sent.gradients});
        to_buffer.pageable = true;
        const OperationId left = build_.add(OperationKind::copy_gradients_out, layer,
                                            std::move(waits), std::move(to_buffer));
        python_.wait_for(left, layer);
        filled_ += sent.bucket.elements;
        while (filled_ > layout_.largest_sub_group) write_gradients(layout_.largest_sub_group);
        return left;
    }

    void write_gradients(double elements) {
        filled_ -= elements;
        written_.push_back(
            add(OperationKind::write_gradients, after_host(), copy_operation(kFp32 * elements)));
    }

    void hold_host(OperationId operation) { python_.wait_for(operation, kEmbeddingLayer); }
    Waits after_host() { return python_.reached(kEmbeddingLayer); }

    OperationId add(OperationKind kind, Waits waits, Operation work) {
        return build_.add(kind, kEmbeddingLayer, std::move(waits), std::move(work));
    }
    OperationId read_states(std::size_t group, Waits waits) {
        return add(OperationKind::read_states, std::move(waits),
                   copy_operation(kReadToUpdate * layout_.sub_groups[group]));
    }

    void optimize() override {
        write_gradients(filled_);
        hold_host(written_.back());
        OperationId read = read_states(0, after_host());
        OperationId written_before = -1;  // the sub-group before the last
        for (std::size_t group = 0; group < layout_.sub_groups.size(); ++group) {
            const double elements = layout_.sub_groups[group];
            const OperationId own = read;
            Waits waits = after_host();
            waits.push_back({written_before});
            if (group + 1 < layout_.sub_groups.size()) read = read_states(group + 1, waits);
            waits.push_back({own});
            hold_host(update_on_cpu(elements, std::move(waits)));
            if (group >= layout_.sub_groups_on_host)
                hold_host(add(OperationKind::write_weights, after_host(),
                              copy_operation(kBf16 * elements)));
            written_before = last_written_;
            last_written_ =
                add(OperationKind::write_states, after_host(), copy_operation(kStates * elements));
        }
        build_.wait(python_.first(), {last_written_, true});
    }

    void say_assumptions() {
        for (const std::string& sentence : machine_.storage.assumptions) build_.assume(sentence);
        if (machine_.storage.latency == 0)
            build_.assume("a read or write of storage takes only the time of its bytes");
        build_.assume("reads and writes of storage at the same time keep their rates");
        build_.assume("copies to locked pages that CUDA does not know go as to pageable memory");
        build_.assume(kZero3AdamAssumption);
    }

    const InfinityLayout layout_;
    ParameterFetches fetches_;
    std::vector<OperationId> copied_;  ///< the last copy of each parameter
    OperationId last_read_ = -1, last_written_ = -1;
    double filled_ = 0;                 ///< elements of gradients in a buffer that is not full
    std::vector<OperationId> written_;  ///< buffers of gradients
};

void check_storage(const MachineSpec& machine) {
    if (machine.storage.known()) return;
    throw InputError(
        fmt::format("{} has no storage for the schedule zero-infinity: storage.read_gb_per_s or "
                    "storage.write_gb_per_s is not known; give them with --set "
                    "storage.read_gb_per_s=NUMBER "
                    "--set storage.write_gb_per_s=NUMBER",
                    machine.id),
        "settings");
}

StepPlan plan(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training) {
    check_storage(machine);
    return ZeroInfinity(model, machine, training).plan();
}

}  // namespace

InfinityLayout::InfinityLayout(const ModelSpec& model, const Zero3Modules& of_model,
                               double sub_group_size)
    : modules(&of_model), sub_groups(zero3_sub_groups(model, sub_group_size)) {
    largest_sub_group = *std::max_element(sub_groups.begin(), sub_groups.end());
    double on_host = 0;
    for (; sub_groups_on_host < sub_groups.size(); ++sub_groups_on_host) {
        const double with_next = on_host + sub_groups[sub_groups_on_host];
        if (with_next > kMostInHost) break;
        on_host = with_next;
    }
    const std::vector<std::int64_t>& elements = modules->elements();
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const std::int64_t of_tensor = elements[i] / modules->tensors()[i];
        on_storage.push_back(of_tensor >= kSmallest && modules->elements_before()[i] >= on_host);
        if (on_storage.back()) elements_on_storage += static_cast<double>(elements[i]);
        largest_tensor = std::max(largest_tensor, static_cast<double>(of_tensor));
    }
    if (elements_on_storage == 0) return;
    for (parameter_buffers = kFewestBuffers;; ++parameter_buffers) {
        ParameterFetches trial = fetches(parameter_buffers);
        for (std::size_t call = 0; call < trial.calls() && !trial.out_of_buffers(); ++call)
            trial.next();
        if (!trial.out_of_buffers()) return;
    }
}

ParameterFetches InfinityLayout::fetches(int buffers) const {
    return ParameterFetches(modules->elements(), modules->step_calls(), {},
                            {on_storage, buffers, modules->tensors()});
}

ScheduleRecord zero_infinity_schedule() {
    return {.name = "zero-infinity",
            .about =
                "DeepSpeed keeps parameters and states on NVMe, so that little host memory "
                "does; the disks limit the speed.",
            .measured_system = "DeepSpeed ZeRO-Infinity",
            .plan = plan,
            .options = {"sub_group_elements", "attention"},
            .program = {.name = "DeepSpeed ZeRO-Infinity",
                        .gpu_makers = {"NVIDIA"},
                        .source = "DeepSpeed 0.19.8",
                        .date = "2026-11-23"},
            .needs_storage = true,
            // DeepSpeed's page in the documentation of transformers, section NVMe.
            .users_run = {{"sub_group_elements", "1e9"}},
            .structural_error = kErrorOffloading,
            .phases = plain_phases()};
}

}  // namespace sluice

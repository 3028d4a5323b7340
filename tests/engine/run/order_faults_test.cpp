// Do trials of orders find what they are for? Each fault is planted in plans of random seeds, until
// a trial differs.
#include <fmt/format.h>

#include <optional>

#include "sim/base/mixed_bits.h"
#include "tests/engine/run/order_trial.h"

using namespace sluice;

namespace {

constexpr int kPlans = 100;

/// The first plan in which a trial finds a fault, and what it says; 0 if none does.
struct Found {
    int plan = 0;
    std::string what;
};

/// Tries plans for which `plant` gives faults.
using Plant = std::function<std::optional<TrialFaults>(std::uint64_t seed)>;
Found plans_until_found(const Plant& plant) {
    constexpr std::uint64_t kMostSeeds = 5000;  // few plans have a place for some faults
    int planted = 0;
    for (std::uint64_t seed = 0; planted < kPlans && seed < kMostSeeds; ++seed) {
        if (trial_subject(seed).spoiled) continue;  // nothing is updated
        const std::optional<TrialFaults> faults = plant(seed);
        if (!faults) continue;
        ++planted;
        const std::string what = run_trial(seed, *faults);
        if (what.empty()) continue;
        CHECK(run_trial(seed, *faults) == what);  // a seed always ends in the same way
        return {planted, what.substr(0, what.find(';'))};
    }
    return {};
}

/// The same for a fault that changes the plan where it returns true.
Found plans_until_found(const std::function<bool(StreamedPlan&, std::uint64_t seed)>& change) {
    return plans_until_found(Plant([&](std::uint64_t seed) -> std::optional<TrialFaults> {
        const TrialSubject subject = trial_subject(seed);
        StreamedPlan plan = plan_streamed(subject.model, MachineSpec{}, subject.training);
        if (!change(plan, seed)) return std::nullopt;
        return TrialFaults{{}, [plan](StreamedPlan& planned) { planned = plan; }};
    }));
}

void check_found(const std::string& fault, const Found& found) {
    CAPTURE(fault);
    std::printf("orders: %s: plan %d, %s\n", fault.c_str(), found.plan, found.what.c_str());
    CHECK(found.plan > 0);
}

/// A wait of an operation for another, both named by kind and whether the embedding's.
struct WaitKind {
    OperationKind later, earlier;
    bool later_of_embedding = false, earlier_of_embedding = false, previous_step = false;
};

bool matches(const Operation& op, OperationKind kind, bool of_embedding) {
    return op.kind == kind && (op.layer == kEmbeddingLayer) == of_embedding;
}

/// Removes one of the plan's waits of this kind.
bool remove_wait(StreamedPlan& plan, std::uint64_t seed, const WaitKind& kind) {
    std::vector<Operation>& operations = plan.step.program.operations;
    std::vector<std::pair<Operation*, std::size_t>> found;
    for (Operation& op : operations) {
        if (!matches(op, kind.later, kind.later_of_embedding)) continue;
        for (std::size_t i = 0; i < op.waits_for.size(); ++i) {
            const Dependency& wait = op.waits_for[i];
            const Operation& on = operations[static_cast<std::size_t>(wait.operation)];
            if (wait.previous_step == kind.previous_step && on.lane != op.lane &&
                matches(on, kind.earlier, kind.earlier_of_embedding))
                found.emplace_back(&op, i);
        }
    }
    if (found.empty()) return false;
    const auto [op, index] = found[seed % found.size()];
    const Dependency wait = op->waits_for[index];
    op->waits_for.erase_if([&](const Dependency& one) {
        return one.operation == wait.operation && one.previous_step == wait.previous_step;
    });
    return true;
}

}  // namespace

TEST_CASE("orders: a wait that the plan lacks is found within 100 plans", "[run]") {
    using enum OperationKind;
    const std::vector<WaitKind> kinds = {
        {forward, copy_weights_in},
        {forward, copy_embeddings_in, false, true},
        {forward, copy_checkpoint_out},
        {copy_checkpoint_out, forward},
        {forward, copy_kept_out},
        {copy_kept_out, forward},
        {copy_kept_in, copy_kept_out},
        {copy_kept_in, backward},
        {backward, copy_kept_in},
        {copy_checkpoint_out, gather_embeddings, false, true},
        {copy_checkpoint_in, copy_checkpoint_out},
        {copy_checkpoint_in, backward},
        {backward, copy_checkpoint_in},
        {backward, copy_weights_in},
        {backward, copy_gradients_out},
        {copy_weights_in, forward},
        {copy_weights_in, backward},
        {copy_weights_in, update, false, false, true},
        {loss, copy_weights_in},
        // Not loss for checkpoint out: in these plans no byte of one is later the other's.
        {copy_gradients_out, loss},
        {copy_gradients_out, backward},
        {copy_gradients_out, update},
        {copy_gradients_out, backward, true},
        {copy_gradients_out, embedding_backward, true, true},
        {update, copy_gradients_out},
        {update, clip_gradients, true, true},
        {update, scatter_embeddings, false, true},
        {scatter_embeddings, copy_gradients_out, true, true},
        {clip_gradients, copy_gradients_out, true, true},
        {gather_embeddings, copy_embeddings_in, true, true},
        {copy_embeddings_in, gather_embeddings, true, true, true},
        {copy_embeddings_in, update, true, false, true},
        {copy_states_in, backward},
        {copy_states_in, copy_states_out, false, false, true},
        {update, copy_states_in},
        {copy_weights_out, update},
        {copy_weights_in, copy_weights_out, false, false, true},
        {forward, copy_states_out, false, false, true},
        {copy_weights_in, update, false, true, true},
    };
    for (const WaitKind& kind : kinds) {
        check_found(
            fmt::format("no wait of {}{} for {}{}{}", operation_name(kind.later),
                        kind.later_of_embedding ? " (embedding)" : "", operation_name(kind.earlier),
                        kind.earlier_of_embedding ? " (embedding)" : "",
                        kind.previous_step ? " of the step before" : ""),
            plans_until_found([&](StreamedPlan& plan, std::uint64_t seed) {
                return remove_wait(plan, seed, kind);
            }));
    }
}

namespace {

/// A field of a plan's buffers; where there is one a layer, the seed's.
using BufferField = std::function<BufferId*(StreamedBuffers&, std::uint64_t seed)>;

BufferField one_of(std::vector<BufferId> StreamedBuffers::*of_layers) {
    return [=](StreamedBuffers& buffers, std::uint64_t seed) -> BufferId* {
        std::vector<BufferId>& all = buffers.*of_layers;
        return all.empty() ? nullptr : &all[seed % all.size()];
    };
}
BufferField the(BufferId StreamedBuffers::*field) {
    return [=](StreamedBuffers& buffers, std::uint64_t) { return &(buffers.*field); };
}

/// All that hold floating-point numbers; in tokens, others would be read as places in memory.
const std::vector<std::pair<const char*, BufferField>>& buffer_fields() {
    using B = StreamedBuffers;
    static const std::vector<std::pair<const char*, BufferField>> kFields = {
        {"weight slots", the(&B::weight_slots)},
        {"gradient slabs", the(&B::gradient_slabs)},
        {"gradient sums", one_of(&B::gradient_sums)},
        {"checkpoints coming back", the(&B::coming_back)},
        {"FP8 operands", the(&B::fp8_operands)},
        {"FP8 weights", one_of(&B::fp8_weights)},
        {"sums", the(&B::sums)},
        {"resident", one_of(&B::resident)},
        {"held gradients", one_of(&B::held_gradients)},
        {"visit", one_of(&B::visits)},
        {"layer input", one_of(&B::inputs)},
        {"kept", one_of(&B::kept)},
        {"head weights", the(&B::head_weights)},
        {"hidden gradient", the(&B::hidden_gradient)},
        {"forward workspace", the(&B::forward_workspace)},
        {"backward workspace", the(&B::backward_workspace)},
        {"logits", the(&B::logits)},
        {"head gradient", the(&B::head_gradient)},
        {"row gradients", the(&B::row_gradients)},
    };
    return kFields;
}

bool alive_together(const Buffer& a, const Buffer& b) {
    if (a.first == kWholeStep || b.first == kWholeStep) return true;
    return a.first <= b.last && b.first <= a.last;
}

/// Puts the buffer where another one is that is as large and lives at the same time.
bool alias(StreamedPlan& plan, std::uint64_t seed, const BufferField& field) {
    const std::vector<Buffer>& buffers = plan.step.memory.buffers;
    const auto at = [&](BufferId id) { return buffers[static_cast<std::size_t>(id)]; };
    BufferId* const victim = field(plan.buffers, seed);
    if (victim == nullptr || *victim == kNoBuffer) return false;
    std::vector<BufferId> places;
    for (const auto& [name, other] : buffer_fields()) {
        const BufferId* const place = other(plan.buffers, seed / 7);
        if (place == nullptr || *place == kNoBuffer || *place == *victim) continue;
        if (at(*place).bytes >= at(*victim).bytes && alive_together(at(*place), at(*victim)))
            places.push_back(*place);
    }
    if (places.empty()) return false;
    *victim = places[seed / 3 % places.size()];
    return true;
}

}  // namespace

TEST_CASE("orders: two buffers in one place are found within 100 plans", "[run]") {
    for (const auto& [name, buffer_of] : buffer_fields()) {
        const BufferField& field = buffer_of;  // Clang 14 captures no structured binding
        check_found(fmt::format("{} where another buffer is", name),
                    plans_until_found([&](StreamedPlan& plan, std::uint64_t seed) {
                        return alias(plan, seed, field);
                    }));
    }
}

TEST_CASE("orders: a buffer that ends before its last use is found within 100 plans", "[run]") {
    check_found(
        "a buffer ends too early", plans_until_found([](StreamedPlan& plan, std::uint64_t seed) {
            std::vector<Buffer*> longer;
            for (Buffer& buffer : plan.step.memory.buffers)
                if (buffer.memory == Tier::device && buffer.first >= 0 &&
                    buffer.first < buffer.last)
                    longer.push_back(&buffer);
            if (longer.empty()) return false;
            Buffer& victim = *longer[seed % longer.size()];
            const auto length = static_cast<std::uint64_t>(victim.last - victim.first);
            victim.last = victim.first + static_cast<OperationId>(mixed_bits(seed) % length);
            return true;
        }));
}

TEST_CASE("orders: a lost write is found within 100 plans", "[run]") {
    for (const Work lane : {Work::host_to_device, Work::compute, Work::device_to_host}) {
        const auto lose_one = [&](std::uint64_t seed) -> std::optional<TrialFaults> {
            const auto device = std::make_shared<LateDevice>(seed);
            run_subject(trial_subject(seed), start_on(device));
            const std::int64_t lost = static_cast<std::int64_t>(
                mixed_bits(seed) % static_cast<std::uint64_t>(device->tasks(lane)));
            return TrialFaults{{.lane = lane, .lost_task = lost}};
        };
        check_found(fmt::format("a lost task of {}", lane_name(lane)),
                    plans_until_found(Plant(lose_one)));
    }
}

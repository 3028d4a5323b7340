// Does an order of operations that a streamed plan allows ever let two of them meet in one place,
// or in memory that one buffer hands to another? Happens-before is what lanes and waits enforce.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "sim/machine/machine_profile.h"
#include "sim/model/read_model.h"
#include "sim/plan/step_plan.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

constexpr int kSteps = 3;  // the first and the last step are not between two others

using Clock = std::array<int, kLaneCount>;  ///< how many operations of each lane are done before

/// A plan repeated: operation `i` of step `s` is number s * count + i.
class Unrolled {
  public:
    explicit Unrolled(const StepPlan& plan)
        : operations_(plan.program.operations), count_(static_cast<int>(operations_.size())) {
        Clock position{};
        std::array<int, kLaneCount> last{};
        last.fill(-1);
        for (int id = 0; id < kSteps * count_; ++id) {
            Clock& before = before_.emplace_back();
            if (last[lane(id)] >= 0) follow(before, last[lane(id)]);
            for (const Dependency& wait : operation(id).waits_for) {
                const int step = id / count_ - (wait.previous_step ? 1 : 0);
                const int on = step * count_ + wait.operation;
                REQUIRE(on < id);
                if (step >= 0) follow(before, on);
            }
            position_.push_back(position[lane(id)]++);
            last[lane(id)] = id;
        }
    }
    int count() const { return count_; }
    const Operation& operation(int id) const {
        return operations_[static_cast<std::size_t>(id % count_)];
    }
    std::size_t lane(int id) const { return static_cast<std::size_t>(operation(id).lane); }
    bool ordered(int first, int second) const {
        return before_[static_cast<std::size_t>(second)][lane(first)] > position(first);
    }

  private:
    int position(int id) const { return position_[static_cast<std::size_t>(id)]; }
    void follow(Clock& before, int id) const {
        const Clock& other = before_[static_cast<std::size_t>(id)];
        for (std::size_t i = 0; i < before.size(); ++i) before[i] = std::max(before[i], other[i]);
        before[lane(id)] = std::max(before[lane(id)], position(id) + 1);
    }

    const std::vector<Operation>& operations_;
    int count_;
    std::vector<Clock> before_;
    std::vector<int> position_;
};

enum class Place : std::uint8_t {
    rows_in,  // token rows on the host, and their gradients
    rows_out,
    row_gradients,
    table,  // weights on the host
    host_head,
    host_layer,
    slot,  // weights on the device
    device_head,
    input,
    hidden,
    coming_back,
    host_checkpoint,
    gradient_slab,
    host_slab,
    host_head_gradient,
};

struct Access {
    Place place;
    std::int64_t index;  ///< which of its kind
    bool writes;
};

/// What the operations of one step touch; follows them in the program's order.
class Accesses {
  public:
    Accesses(const ModelSpec& model, const TrainingSpec& training)
        : t_(training), tied_(model.tied_embeddings), layers_(model.layer_count()) {}

    std::vector<Access> of(const Operation& op) {
        accesses_.clear();
        layer_ = op.layer;
        j_ = op.micro_batch;
        if (op.kind == OperationKind::forward || op.kind == OperationKind::backward) {
            reads(Place::slot, layer_ % t_.buffer_depth);
        }
        switch (op.kind) {
            case OperationKind::copy_weights_in:
            case OperationKind::copy_gradients_out:
            case OperationKind::update:
                of_parameters(op.kind);
                break;
            default:
                of_activations(op.kind);
        }
        return accesses_;
    }

  private:
    void reads(Place place, std::int64_t index = 0) { accesses_.push_back({place, index, false}); }
    void writes(Place place, std::int64_t index = 0) { accesses_.push_back({place, index, true}); }

    bool on_host() const { return t_.checkpoints == CheckpointPlacement::host; }
    std::int64_t input(std::int64_t layer, std::int64_t j) const {
        return (on_host() ? layer % 2 : layer) * t_.micro_batches() + j;
    }
    std::int64_t in_turn(std::int64_t slabs) const { return (layers_ - 1 - layer_) % slabs; }
    std::int64_t host_slab() const {
        if (t_.clipping == Clipping::exact) return layer_;  // gradients of all layers are held
        return in_turn(t_.host_gradient_slabs == 0 ? 4 : t_.host_gradient_slabs);
    }

    void of_parameters(OperationKind kind) {
        if (layer_ == layers_) return of_head(kind);
        if (layer_ == kEmbeddingLayer) return of_embedding(kind);
        if (kind == OperationKind::copy_weights_in) {
            reads(Place::host_layer, layer_);
            writes(Place::slot, layer_ % t_.buffer_depth);
        } else if (kind == OperationKind::copy_gradients_out) {
            reads(Place::gradient_slab, in_turn(t_.gradient_slabs));
            writes(Place::host_slab, host_slab());
        } else {
            reads(Place::host_slab, host_slab());
            writes(Place::host_layer, layer_);
        }
    }
    void of_head(OperationKind kind) {
        if (kind == OperationKind::copy_weights_in) {
            reads(tied_ ? Place::table : Place::host_head);
            writes(Place::device_head);
        } else if (kind == OperationKind::copy_gradients_out) {
            reads(Place::device_head);
            writes(Place::host_head_gradient);
        } else {
            reads(Place::host_head_gradient);
            writes(Place::host_head);
        }
    }
    void of_embedding(OperationKind kind) {
        if (kind == OperationKind::copy_gradients_out) {
            for (std::int64_t j = 0; j < t_.micro_batches(); ++j) reads(Place::hidden, j);
            writes(Place::rows_out);
        } else {
            reads(Place::row_gradients);
            if (tied_) reads(Place::host_head_gradient);
            writes(Place::table);
        }
    }
    void of_activations(OperationKind kind) {
        switch (kind) {
            case OperationKind::gather_embeddings:
                reads(Place::table);
                return writes(Place::rows_in);
            case OperationKind::scatter_embeddings:
                reads(Place::rows_out);
                return writes(Place::row_gradients);
            case OperationKind::copy_embeddings_in:
                reads(Place::rows_in);
                for (std::int64_t j = 0; j < t_.micro_batches(); ++j)
                    writes(Place::input, input(0, j));
                return;
            case OperationKind::forward:
                reads(Place::input, input(layer_, j_));
                if (layer_ + 1 == layers_) return writes(Place::hidden, j_);
                return writes(Place::input, input(layer_ + 1, j_));
            case OperationKind::loss:
                writes(Place::device_head);  // its gradient overwrites it
                return writes(Place::hidden, j_);
            case OperationKind::copy_checkpoint_out:
                reads(Place::input, input(layer_, j_));
                return writes(Place::host_checkpoint, layer_ * t_.micro_batches() + j_);
            case OperationKind::copy_checkpoint_in:
                if (layer_ == 0)
                    reads(Place::rows_in);
                else
                    reads(Place::host_checkpoint, layer_ * t_.micro_batches() + j_);
                return writes(Place::coming_back, came_back_++ % 2);
            case OperationKind::backward:
                writes(Place::hidden, j_);
                writes(Place::gradient_slab, in_turn(t_.gradient_slabs));
                if (on_host()) return reads(Place::coming_back, (came_back_ - 1) % 2);
                return reads(Place::input, input(layer_, j_));
            default:
                FAIL("an operation that the streamed schedule does not have");
        }
    }

    const TrainingSpec& t_;
    const bool tied_;
    const int layers_;
    std::int64_t layer_ = 0, j_ = 0, came_back_ = 0;
    std::vector<Access> accesses_;
};

using LastOfLane = std::array<int, kLaneCount>;

/// Two operations, of which one writes, in one place without an order. Of each lane only the latest
/// access needs a look: those before it come before.
void find_races(const Unrolled& unrolled, const ModelSpec& model, const TrainingSpec& training,
                std::set<std::string>& found) {
    LastOfLane none;
    none.fill(-1);
    std::map<std::pair<Place, std::int64_t>, std::array<LastOfLane, 2>> latest;  // reads, writes
    for (int step = 0; step < kSteps; ++step) {
        Accesses accesses(model, training);
        for (int i = 0; i < unrolled.count(); ++i) {
            const int id = step * unrolled.count() + i;
            for (const Access& access : accesses.of(unrolled.operation(id))) {
                auto& there =
                    latest.try_emplace({access.place, access.index}, std::array{none, none})
                        .first->second;
                for (std::size_t writes = access.writes ? 0 : 1; writes < 2; ++writes) {
                    for (const int before : there[writes]) {
                        if (before < 0 || unrolled.ordered(before, id)) continue;
                        found.insert(fmt::format("{} may meet {} in place {}",
                                                 operation_name(unrolled.operation(before).kind),
                                                 operation_name(unrolled.operation(id).kind),
                                                 static_cast<int>(access.place)));
                    }
                }
                there[access.writes ? 1 : 0][unrolled.lane(id)] = id;
            }
        }
    }
}

/// First and last operation of each lane that uses a buffer, of one step.
struct Users {
    LastOfLane first, last;
};

std::vector<Users> users_of_buffers(const StepPlan& plan) {
    Users nobody;
    nobody.first.fill(-1);
    nobody.last.fill(-1);
    std::vector<Users> users(plan.memory.buffers.size(), nobody);
    for (int i = 0; i < static_cast<int>(plan.program.operations.size()); ++i) {
        const Operation& op = plan.program.operations[static_cast<std::size_t>(i)];
        const auto lane = static_cast<std::size_t>(op.lane);
        for (const BufferId id : op.uses) {
            Users& of = users[static_cast<std::size_t>(id)];
            if (of.first[lane] < 0) of.first[lane] = i;
            of.last[lane] = i;
        }
    }
    return users;
}

/// Buffers whose lifetimes do not overlap may share memory: all that use one must come before all
/// that use the other, in this step or the next.
void find_early_reuse(const Unrolled& unrolled, const StepPlan& plan,
                      std::set<std::string>& found) {
    const std::vector<Users> users = users_of_buffers(plan);
    const std::vector<Buffer>& buffers = plan.memory.buffers;
    const auto in_step = [](const Buffer& b) { return b.first != kWholeStep && b.first <= b.last; };
    for (std::size_t a = 0; a < buffers.size(); ++a) {
        for (std::size_t b = 0; b < buffers.size(); ++b) {
            if (buffers[a].tier != buffers[b].tier || !in_step(buffers[a]) || !in_step(buffers[b]))
                continue;
            const bool same_step = buffers[a].last < buffers[b].first;
            if (!same_step && buffers[b].last >= buffers[a].first) continue;
            const int offset = same_step ? 0 : unrolled.count();
            for (const int last : users[a].last) {
                for (const int first : users[b].first) {
                    if (last < 0 || first < 0 || unrolled.ordered(last, first + offset)) continue;
                    found.insert(fmt::format("{} may still use '{}' when '{}' takes its memory",
                                             operation_name(unrolled.operation(last).kind),
                                             buffers[a].name, buffers[b].name));
                }
            }
        }
    }
}

/// Calls `use` with every combination of settings that decides an order.
template <typename Use>
void each_setting(Use use) {
    TrainingSpec t;
    t.batch = 4;
    t.sequence = 16;
    for (const std::int64_t depth : {1, 2, 3, 8}) {
        for (const auto& [slabs, host_slabs] : {std::pair{1, 1}, {1, 2}, {2, 0}, {4, 1}}) {
            for (const std::int64_t micro_batch : {4, 2, 1}) {
                for (const int place : {0, 1}) {
                    for (const int clipping : {0, 1, 2}) {
                        t.buffer_depth = depth;
                        t.gradient_slabs = slabs;
                        t.host_gradient_slabs = host_slabs;
                        t.micro_batch = micro_batch;
                        t.checkpoints = static_cast<CheckpointPlacement>(place);
                        t.clipping = static_cast<Clipping>(clipping);
                        use(t);
                    }
                }
            }
        }
    }
}

}  // namespace

TEST_CASE("streamed: no two operations meet in one place, in any order that waits allow",
          "[plan]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    std::map<std::string, std::string> races;  // and the first setting that has each
    for (int layers = 1; layers <= 8; ++layers) {
        for (const bool tied : {false, true}) {
            const ModelSpec model = parse_generic_model(
                fmt::format("layers={},hidden=256,vocabulary=5000,tied={:d}", layers, tied));
            each_setting([&](const TrainingSpec& t) {
                const StepPlan plan = plan_step(model, machine, t);
                const Unrolled unrolled(plan);
                std::set<std::string> found;
                find_races(unrolled, model, t, found);
                find_early_reuse(unrolled, plan, found);
                for (const std::string& race : found) {
                    races.emplace(race, fmt::format("layers {} tied {} depth {} slabs {}, {} on the"
                                                    " host; micro-batches {} checkpoints {} "
                                                    "clipping {}",
                                                    layers, tied, t.buffer_depth, t.gradient_slabs,
                                                    t.host_gradient_slabs, t.micro_batches(),
                                                    static_cast<int>(t.checkpoints),
                                                    static_cast<int>(t.clipping)));
                }
            });
        }
    }
    for (const auto& [race, setting] : races) UNSCOPED_INFO(race << " (" << setting << ")");
    CHECK(races.empty());
}

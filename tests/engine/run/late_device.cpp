#include "tests/engine/run/late_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

// Actors: lanes whose operations begin, lanes of the device whose tasks run, and the thread that
// waits for them.
constexpr int kOnDevice = static_cast<int>(kWorkCount), kWaitingThread = 2 * kOnDevice,
              kActors = kWaitingThread + 1;

}  // namespace

SeededTurns::SeededTurns(std::uint64_t seed) : random_(seed), choices_an_order_(1) {
    constexpr std::size_t kLengths = 8;  // 1, 2, 4, ... choices
    choices_an_order_ <<= below(kLengths);
    for (int actor = 0; actor < kActors; ++actor) order_.push_back(actor);
    std::shuffle(order_.begin(), order_.end(), random_);
}

int SeededTurns::choose(std::span<const int> actors) {
    if (below(choices_an_order_) == 0) std::shuffle(order_.begin(), order_.end(), random_);
    return *std::find_first_of(order_.begin(), order_.end(), actors.begin(), actors.end());
}

/// Calls of kernels become tasks of the compute lane. Their arguments are copied now; what these
/// point to is read when the task runs.
class LateDevice::LateKernels final : public Kernels {
  public:
    LateKernels(LateDevice& device, Kernels& now) : device_(device), now_(now) {}

    void gemm(const Product& product) override {
        later([=, this] { now_.gemm(product); });
    }
    void rms_norm(Matrix y, Matrix x, Vector weight, float epsilon, Fp8Scale* scale) override {
        later([=, this] { now_.rms_norm(y, x, weight, epsilon, scale); });
    }
    void rms_norm_backward(Matrix dx, bool add_to_dx, Matrix dy, Matrix x, Vector weight,
                           float epsilon, Vector dweight, bool accumulate) override {
        later([=, this] {
            now_.rms_norm_backward(dx, add_to_dx, dy, x, weight, epsilon, dweight, accumulate);
        });
    }
    void head_norm(const AttentionShape& shape, Matrix qkv, Vector query_weight, Vector key_weight,
                   float epsilon, Matrix unnormed) override {
        later(
            [=, this] { now_.head_norm(shape, qkv, query_weight, key_weight, epsilon, unnormed); });
    }
    void head_norm_backward(const AttentionShape& shape, Matrix dqkv, Matrix unnormed,
                            Vector query_weight, Vector key_weight, float epsilon,
                            Vector dquery_weight, Vector dkey_weight, bool accumulate) override {
        later([=, this] {
            now_.head_norm_backward(shape, dqkv, unnormed, query_weight, key_weight, epsilon,
                                    dquery_weight, dkey_weight, accumulate);
        });
    }
    void rotary(const AttentionShape& shape, const RotaryShape& rotary, Matrix qkv,
                bool backward) override {
        later([=, this] { now_.rotary(shape, rotary, qkv, backward); });
    }
    void attention(const AttentionShape& shape, Matrix qkv, Matrix out, float* statistics,
                   Documents documents) override {
        later([=, this] { now_.attention(shape, qkv, out, statistics, documents); });
    }
    void attention_backward(const AttentionShape& shape, Matrix qkv, Matrix out,
                            const float* statistics, Matrix dout, Matrix dqkv, void* workspace,
                            Documents documents) override {
        later([=, this] {
            now_.attention_backward(shape, qkv, out, statistics, dout, dqkv, workspace, documents);
        });
    }
    std::int64_t attention_workspace_bytes(const AttentionShape& shape,
                                           Documents documents) override {
        return now_.attention_workspace_bytes(shape, documents);
    }
    void swiglu(Matrix product, Matrix gate_up, Fp8Scale* scale, EightBits codes) override {
        later([=, this] { now_.swiglu(product, gate_up, scale, codes); });
    }
    void swiglu_backward(Matrix gate_up, Matrix dproduct, EightBits codes,
                         Fp8Scale* scale) override {
        later([=, this] { now_.swiglu_backward(gate_up, dproduct, codes, scale); });
    }
    void swiglu_backward_fp8(Matrix gate_up, Matrix dproduct, const SwigluCodes& out,
                             EightBits codes) override {
        later([=, this] { now_.swiglu_backward_fp8(gate_up, dproduct, out, codes); });
    }
    void route(const ExpertRoutes& out, Matrix logits, RouteWeights weights,
               double* busiest) override {
        later([=, this] { now_.route(out, logits, weights, busiest); });
    }
    void route_backward(Matrix dlogits, Matrix logits, const ExpertRoutes& routes,
                        const float* dweights, RouteWeights weights) override {
        later([=, this] { now_.route_backward(dlogits, logits, routes, dweights, weights); });
    }
    void copy_to_experts(Matrix copies, Matrix in, const ExpertRoutes& routes) override {
        later([=, this] { now_.copy_to_experts(copies, in, routes); });
    }
    void sum_of_experts(Matrix y, Matrix addend, Matrix copies,
                        const ExpertRoutes& routes) override {
        later([=, this] { now_.sum_of_experts(y, addend, copies, routes); });
    }
    void expert_products(const ExpertProducts& products, const ExpertRoutes& routes) override {
        later([=, this] { now_.expert_products(products, routes); });
    }
    void expert_swiglu(Matrix product, Matrix gate_up, const ExpertRoutes& routes,
                       EightBits codes) override {
        later([=, this] { now_.expert_swiglu(product, gate_up, routes, codes); });
    }
    void expert_swiglu_backward(Matrix gate_up, Matrix dproduct, const ExpertRoutes& routes,
                                float* dweights, EightBits codes) override {
        later(
            [=, this] { now_.expert_swiglu_backward(gate_up, dproduct, routes, dweights, codes); });
    }
    void bias_backward(Vector dbias, Matrix dy, bool accumulate) override {
        later([=, this] { now_.bias_backward(dbias, dy, accumulate); });
    }
    void cross_entropy(Matrix logits, const std::int32_t* targets, float scale,
                       double* loss) override {
        later([=, this] { now_.cross_entropy(logits, targets, scale, loss); });
    }
    void gather_rows(Matrix out, const std::uint16_t* table, const std::int32_t* tokens) override {
        later([=, this] { now_.gather_rows(out, table, tokens); });
    }
    void sum_rows(float* sums, Matrix gradients, const TokenRows& rows,
                  const std::uint16_t* head_gradient, double* norm_square) override {
        later([=, this] { now_.sum_rows(sums, gradients, rows, head_gradient, norm_square); });
    }
    void sum_squares(Vector values, double* sum) override {
        later([=, this] { now_.sum_squares(values, sum); });
    }
    void round_to_bf16(Vector out, Vector in) override {
        later([=, this] { now_.round_to_bf16(out, in); });
    }
    void adamw(const BlockUpdate& update) override {
        later([=, this] { now_.adamw(update); });
    }
    void cast_fp8(const Fp8Cast& cast) override {
        later([=, this] { now_.cast_fp8(cast); });
    }
    void dropout(Matrix out, Matrix in, const Dropout& dropout) override {
        later([=, this] { now_.dropout(out, in, dropout); });
    }
    void decode_nf4(Matrix out, const Nf4Tensor& in) override {
        later([=, this] { now_.decode_nf4(out, in); });
    }
    void transpose_codes(Matrix out, Matrix in) override {
        later([=, this] { now_.transpose_codes(out, in); });
    }
    void fill_zero(void* data, std::int64_t bytes) override {
        later([=, this] { now_.fill_zero(data, bytes); });
    }

  private:
    void later(std::function<void()> work) { device_.enqueue(Work::compute, {std::move(work)}); }

    LateDevice& device_;
    Kernels& now_;
};

LateDevice::LateDevice(std::uint64_t seed, const LateFaults& faults)
    : turns_(seed),
      faults_(faults),
      kernels_(std::make_unique<LateKernels>(*this, cpu_->kernels())) {}

LateDevice::~LateDevice() { std::free(memory_); }

LaneChoice LateDevice::lane_choice() {
    return [this](std::span<const Lane> ready, bool must_wait) -> std::optional<Lane> {
        for (;;) {
            std::vector<int> actors;
            for (const Lane lane : ready) actors.push_back(static_cast<int>(lane.index()));
            add_actors(actors);
            if (!must_wait) actors.push_back(kWaitingThread);
            const int next = turns_.choose(actors);
            if (next == kWaitingThread) return std::nullopt;
            if (next < kOnDevice) return Lane::at(static_cast<std::size_t>(next));
            run_first(static_cast<Work>(next - kOnDevice));
        }
    };
}

void LateDevice::refuse_memory() {
    if (allocations_++ == faults_.refused_memory) throw Refused();
}

char* LateDevice::allocate_arena(Bytes bytes, Bytes, Bytes) {
    refuse_memory();
    constexpr std::size_t kAlignment = 4096;
    memory_ = std::calloc(static_cast<std::size_t>(bytes) + kAlignment, 1);
    auto* const base = static_cast<char*>(memory_);
    return base + (kAlignment - reinterpret_cast<std::uintptr_t>(base) % kAlignment) % kAlignment;
}

void LateDevice::register_host(void*, Bytes) {
    refuse_memory();
    ++locked_;
}

void LateDevice::release_host(void*) { --locked_; }

void LateDevice::enqueue(Work lane, std::vector<std::function<void()>> parts) {
    if (killed_) throw Killed();
    const std::int64_t number = tasks_[static_cast<std::size_t>(lane)]++;
    if (lane == faults_.lane && number == faults_.lost_task) return;
    if (lane == faults_.lane && number == faults_.killing_task)
        parts = {[this] {
            killed_ = true;
            throw Killed();
        }};
    for (auto& part : parts) queue(lane).push_back({std::move(part)});
}

/// In two parts, between which others may run.
void LateDevice::copy(Work lane, void* to, const void* from, Bytes bytes) {
    const std::size_t first = turns_.below(static_cast<std::size_t>(bytes)),
                      second = static_cast<std::size_t>(bytes) - first;
    auto* const target = static_cast<char*>(to);
    const auto* const source = static_cast<const char*>(from);
    enqueue(lane, {[=] { std::memcpy(target, source, first); },
                   [=] { std::memcpy(target + first, source + first, second); }});
}

void LateDevice::create_events(int count) { events_.assign(static_cast<std::size_t>(count), {}); }

void LateDevice::record(Work lane, EventId event) {
    queue(lane).push_back({{}, event, -1, ++at(event).recorded});
}

void LateDevice::wait(Work lane, EventId event) {
    if (at(event).recorded == 0) throw InternalError("a lane waits for an event of no operation");
    queue(lane).push_back({{}, -1, event, at(event).recorded});
}

bool LateDevice::can_run(Work lane) {
    if (queue(lane).empty()) return false;
    const Task& first = queue(lane).front();
    return first.waits_for < 0 || at(first.waits_for).happened >= first.times;
}

void LateDevice::run_first(Work lane) {
    const Task task = std::move(queue(lane).front());
    queue(lane).pop_front();
    if (task.happens >= 0) {
        at(task.happens).happened = task.times;
        at(task.happens).time = host_seconds();
    }
    if (task.work) task.work();
}

void LateDevice::add_actors(std::vector<int>& actors) {
    for (std::size_t lane = 0; lane < kQueues; ++lane)
        if (can_run(static_cast<Work>(lane))) actors.push_back(kOnDevice + static_cast<int>(lane));
}

void LateDevice::run_one() {
    std::vector<int> actors;
    add_actors(actors);
    if (actors.empty()) throw InternalError("the device's lanes wait for each other");
    run_first(static_cast<Work>(turns_.choose(actors) - kOnDevice));
}

void LateDevice::synchronize(EventId event) {
    const std::int64_t times = at(event).recorded;
    while (at(event).happened < times) killed_ ? throw Killed() : run_one();
}

void LateDevice::finish_all() {
    const auto busy = [](const auto& tasks) { return !tasks.empty(); };
    try {
        while (std::any_of(queues_.begin(), queues_.end(), busy)) run_one();
    } catch (...) {  // what was left is never done
        for (auto& tasks : queues_) tasks.clear();
    }
}

Seconds LateDevice::time_of(EventId event) { return at(event).time; }

}  // namespace sluice

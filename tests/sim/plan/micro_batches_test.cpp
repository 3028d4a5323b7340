// How much does another micro-batch cost a system that offloads? Counted by hand: bytes that cross
// the link again, gradients that are added up, and device memory that is saved.
#include <functional>
#include <string>

#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/infinity_case.h"
#include "tests/sim/plan/unrolled_plan.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// Embedding and head of 32 M elements each, q, k, v, o of 1 M, gate, up, down of 4 M.
const char* const kFourLayers =
    "layers=4,hidden=1024,heads=8,kv_heads=8,head_dim=128,intermediate=4096,vocabulary=32768";

StepPlan plan_of(Schedule schedule, std::int64_t batch, std::int64_t micro_batch) {
    TrainingSpec training;
    training.schedule = schedule;
    training.batch = batch;
    training.micro_batch = micro_batch;
    return plan_step(parse_generic_model(kFourLayers), machine_with_storage(), training);
}
StepPlan whole(Schedule schedule) { return plan_of(schedule, 16, 0); }
StepPlan in_four(Schedule schedule) { return plan_of(schedule, 16, 4); }
StepPlan one_of_four(Schedule schedule) { return plan_of(schedule, 4, 0); }

double parameters() {
    return static_cast<double>(total_parameters(parse_generic_model(kFourLayers)));
}

double sum(const StepPlan& plan, const std::function<double(const Operation&)>& of) {
    double total = 0;
    for (const Operation& operation : plan.program.operations) total += of(operation);
    return total;
}
double moved(const StepPlan& plan, OperationKind kind) {
    return sum(plan, [&](const Operation& o) { return o.kind == kind ? o.link_bytes : 0; });
}
/// Host memory traffic of gradients that are added up.
double added(const StepPlan& plan) {
    return sum(plan, [](const Operation& o) {
        const bool adds =
            o.kind == OperationKind::collect_gradients && o.host_work == HostWork::eager_adam;
        return adds ? o.host_bytes : 0;
    });
}
double out(const StepPlan& plan) { return moved(plan, OperationKind::copy_gradients_out); }
double in(const StepPlan& plan) { return moved(plan, OperationKind::copy_gradients_in); }

Bytes peak(const StepPlan& plan, Tier tier) {
    return peak_memory(plan.memory, tier, static_cast<OperationId>(plan.program.operations.size()))
        .bytes;
}

const std::vector<Schedule> kOffloading = {
    Schedule("zero3-offload"), Schedule("zero-infinity"),      Schedule("superoffload"),
    Schedule("fsdp-offload"),  Schedule("accelerate-offload"), Schedule("megatrain")};

}  // namespace

TEST_CASE("micro-batches: all that offload hold one's activations, and read weights in each",
          "[plan]") {
    for (const Schedule schedule : kOffloading) {
        CAPTURE(schedule->name);
        const StepPlan four = in_four(schedule), one = one_of_four(schedule);
        CHECK(peak(four, Tier::device) <
              0.5 * static_cast<double>(peak(whole(schedule), Tier::device)));
        // One's, but for what is kept while the next one is in forward.
        CHECK(peak(four, Tier::device) <= 1.001 * static_cast<double>(peak(one, Tier::device)));
        CHECK(peak(four, Tier::host) >= peak(one, Tier::host));
        // But for what stands on the device, or is copied there after the update.
        const auto after = [](const StepPlan& plan) {
            return sum(plan, [](const Operation& o) {
                const bool pageable = o.kind == OperationKind::copy_weights_in && o.pageable &&
                                      o.layer == kEmbeddingLayer;
                return pageable ? o.link_bytes : 0;
            });
        };
        const double stays =
            schedule == Schedule("megatrain") || schedule == Schedule("superoffload") ? after(one)
                                                                                      : 0;
        const double each = moved(one, OperationKind::copy_weights_in) - stays;
        CHECK(moved(four, OperationKind::copy_weights_in) == Approx(4 * each + stays));
    }
}

TEST_CASE("micro-batches: one of the whole batch is the batch", "[plan]") {
    for (const Schedule schedule : kOffloading) {
        CAPTURE(schedule->name);
        const StepPlan asked = plan_of(schedule, 16, 16), left = whole(schedule);
        CHECK(asked.program.operations.size() == left.program.operations.size());
        CHECK(peak(asked, Tier::device) == peak(left, Tier::device));
        CHECK(out(asked) == out(left));
    }
}

TEST_CASE("micro-batches: under ZeRO-3 sums go out and come back in bf16, at the end in fp32",
          "[plan]") {
    const double all = parameters();
    for (const Schedule schedule : {Schedule("zero3-offload"), Schedule("zero-infinity")}) {
        CAPTURE(schedule->name);
        const StepPlan four = in_four(schedule);
        CHECK(out(four) == 4 * 2 * all + 4 * all);
        CHECK(in(four) == 4 * 2 * all);
        CHECK(moved(four, OperationKind::write_gradients) ==
              moved(one_of_four(schedule), OperationKind::write_gradients));
        CHECK(moved(four, OperationKind::read_weights) ==
              4 * moved(one_of_four(schedule), OperationKind::read_weights));
    }
    const StepPlan one = one_of_four(Schedule("superoffload")),
                   four = in_four(Schedule("superoffload"));
    const double in_fp32 = out(one) - 2 * all;
    CHECK(in_fp32 > 3 * all);  // of the CPU's sub-groups
    CHECK(out(four) == 4 * 2 * all + in_fp32);
    CHECK(in(four) == 4 * 2 * all);
}

TEST_CASE("micro-batches: all gradients of one have left before the next begins", "[plan]") {
    for (const Schedule schedule : kOffloading) {
        CAPTURE(schedule->name);
        const StepPlan plan = in_four(schedule);
        const Unrolled unrolled(plan);
        int pairs = 0;
        for (int i = 0; i < unrolled.count(); ++i) {
            const Operation& sent = unrolled.operation(i);
            if (sent.kind != OperationKind::copy_gradients_out) continue;
            for (int j = i + 1; j < unrolled.count(); ++j) {
                const Operation& next = unrolled.operation(j);
                if (next.kind != OperationKind::forward || next.micro_batch != sent.micro_batch + 1)
                    continue;
                ++pairs;
                CHECK(unrolled.ordered(i, j));
            }
        }
        CHECK(pairs >= 3 * 4);
    }
}

TEST_CASE("micro-batches: FSDP adds on the CPU what it copies to pageable memory, and waits",
          "[plan]") {
    const double all = parameters();
    const StepPlan plan = in_four(Schedule("fsdp-offload"));
    CHECK(out(plan) == 4 * 4 * all);
    CHECK(added(plan) == 3 * 12 * all);
    CHECK(added(one_of_four(Schedule("fsdp-offload"))) == 0);
    for (const Operation& operation : plan.program.operations) {
        if (operation.kind == OperationKind::copy_gradients_out)
            CHECK(operation.pageable == (operation.micro_batch > 0));
    }
    // In fp32 the embedding and the head are larger than what malloc keeps.
    const double fresh =
        sum(plan, [](const Operation& o) { return o.to_fresh_pages ? o.link_bytes : 0; });
    CHECK(fresh == 3 * 2 * 4 * 32768.0 * 1024);
    // After a later micro-batch's gradients nothing more is issued until they are added.
    const Unrolled unrolled(plan);
    OperationId sum_before = -1;
    for (int i = 0; i < unrolled.count(); ++i) {
        const Operation& operation = unrolled.operation(i);
        if (operation.kind == OperationKind::collect_gradients) sum_before = i;
        if (operation.kind == OperationKind::backward && operation.layer < 3 && sum_before >= 0 &&
            operation.micro_batch > 0)
            CHECK(unrolled.ordered(sum_before, i));
    }
    CHECK(sum_before >= 0);
}

TEST_CASE("micro-batches: Accelerate's and MegaTrain's gradients are added in bf16 on the host",
          "[plan]") {
    const double all = parameters();
    for (const Schedule schedule : {Schedule("accelerate-offload"), Schedule("megatrain")}) {
        CAPTURE(schedule->name);
        const StepPlan plan = in_four(schedule);
        CHECK(out(plan) == 4 * 2 * all);
        CHECK(added(plan) == 3 * 6 * all);
    }
    const double fresh = sum(in_four(Schedule("megatrain")), [](const Operation& o) {
        return o.host_work == HostWork::first_touch ? o.host_bytes : 0;
    });
    CHECK(fresh == 2 * all);
}

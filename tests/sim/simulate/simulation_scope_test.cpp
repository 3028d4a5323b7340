// A simulation that is stopped must leave nothing behind, and one between two others must not
// disturb them.
#include "sim/simulate/simulation_scope.h"

#include <optional>
#include <thread>

#include "sim/answers/predict/advice.h"
#include "sim/answers/predict/prediction_band.h"
#include "tests/catch.h"
#include "tests/sim/simulate/dense_case.h"

using namespace sluice;

namespace {

using Case = test::DenseCase;

/// Stops the `n`th simulation that the scope begins.
class StopAt {
  public:
    explicit StopAt(int n) : n_(n) {}
    std::stop_token token() const { return source_.get_token(); }
    void operator()() {
        if (++begun_ == n_) source_.request_stop();
    }
    int begun() const { return begun_; }

  private:
    std::stop_source source_;
    int n_, begun_ = 0;
};

}  // namespace

TEST_CASE("simulation scope: stopped before and between the simulations of a band", "[simulate]") {
    const Case c;
    const Prediction step = c.predicted();
    const Band before = predict_band(step, c.machine);
    for (const int n : {1, 2, 5}) {
        StopAt stop(n);
        const SimulationScope scope(stop.token(), std::ref(stop));
        CHECK_THROWS_AS(predict_band(step, c.machine), Cancelled);
        CHECK(stop.begun() == n);
    }
    const Prediction again = c.predicted();
    CHECK(again.step.seconds == Approx(step.step.seconds).epsilon(1e-9));
    CHECK(predict_band(again, c.machine).low == Approx(before.low).epsilon(1e-9));
    CHECK(again.step.intervals.size() == step.step.intervals.size());
}

TEST_CASE("simulation scope: stopped among the plans of suggestions", "[simulate]") {
    Case c;
    c.machine.host.memory_capacity /= 100;
    const Prediction report = c.predicted();
    REQUIRE_FALSE(report.plan.fit.fits());
    StopAt stop(3);
    const SimulationScope scope(stop.token(), std::ref(stop));
    CHECK_THROWS_AS(find_suggestions(report, c.model, c.machine), Cancelled);
    CHECK(stop.begun() == 3);
}

TEST_CASE("simulation scope: stopped by another thread while lanes run", "[simulate]") {
    Case c;
    c.training.batch = 16;
    c.training.micro_batch = 1;
    c.model = parse_generic_model("layers=200,hidden=4096");
    const Seconds step = c.predicted().step.seconds;
    int stopped = 0;
    // At several moments: as simulations take some tens of milliseconds, most are in their midst.
    for (int microseconds = 0; microseconds < 20'000; microseconds += 1'000) {
        std::stop_source source;
        std::jthread other([&] {
            std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
            source.request_stop();
        });
        const SimulationScope scope(source.get_token());
        try {
            c.predicted();
        } catch (const Cancelled&) {
            ++stopped;
        }
    }
    CHECK(stopped > 0);
    CHECK(c.predicted().step.seconds == Approx(step).epsilon(1e-9));
}

TEST_CASE("simulation scope: what runs between two simulations changes neither", "[simulate]") {
    const Case c;
    Case small;
    small.model = parse_generic_model("layers=2,hidden=1024");
    small.machine = resolve_machine(read_machine_profile("gh200-480gb"));
    const Seconds step = c.predicted().step.seconds, small_step = small.predicted().step.seconds;
    std::optional<Seconds> between;
    const SimulationScope scope({}, [&] {
        const SimulationScope own({});
        between = small.predicted().step.seconds;
    });
    CHECK(c.predicted().step.seconds == Approx(step).epsilon(1e-9));
    REQUIRE(between);
    CHECK(*between == Approx(small_step).epsilon(1e-9));
}

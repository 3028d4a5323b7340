#include "engine/train/early_stop.h"

#include <limits>

#include "tests/catch.h"

using namespace sluice;

TEST_CASE("early stop: losses in a row that are no lower end the run", "[train]") {
    EarlyStop early(2);
    for (const double loss : {3.0, 2.0, 2.0, 1.5, 1.6}) {
        early.add(loss);
        CHECK_FALSE(early.is_over());
    }
    early.add(std::numeric_limits<double>::quiet_NaN());
    CHECK(early.is_over());
    CHECK(early.words() ==
          "the last 2 evaluations had no lower validation loss than 1.5000 before");
}

TEST_CASE("early stop: a run that goes on remembers, with another patience, too", "[train]") {
    EarlyStop early(2);
    for (const double loss : {1.0, 2.0}) early.add(loss);
    EarlyStop resumed(2), more(3), none(std::nullopt);
    for (EarlyStop* one : {&resumed, &more, &none}) {
        one->continue_from(early.state());
        one->add(1.5);
    }
    CHECK(resumed.is_over());
    CHECK_FALSE(more.is_over());
    CHECK_FALSE(none.is_over());
}

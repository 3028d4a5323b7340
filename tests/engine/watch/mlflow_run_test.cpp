// Does a run of MLflow's file store hold what mlflow 3.17 writes?
#include "engine/watch/mlflow_run.h"

#include <cmath>

#include "sim/base/input_error.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

TEST_CASE("mlflow run: parameters, a growing file a metric, and its state", "[watch]") {
    const TempFolder temp;
    const std::string id = new_mlflow_id(), at = "mlruns/1/" + id;
    CHECK(id.size() == 32);
    MlflowRun run(temp.path(), id, "a: \"b\"", {{"lr", 2e-5}, {"schedule", "cosine"}}, 1.5e9);
    CHECK(run.path() == temp.path(at));
    CHECK_THAT(temp.read("mlruns/1/meta.yaml"), ContainsSubstring("name: sluice\n"));
    CHECK_THAT(temp.read(at + "/meta.yaml"),
               ContainsSubstring("run_name: \"a: \\\"b\\\"\"\n") &&
                   ContainsSubstring("start_time: 1500000000000\nstatus: 1\n") &&
                   ContainsSubstring("end_time: null\n") &&
                   ContainsSubstring("run_id: " + id + "\n"));
    CHECK(temp.read(at + "/params/lr") == "2e-05");
    CHECK(temp.read(at + "/params/schedule") == "cosine");
    CHECK(run.add(1, 1.5e9 + 0.5, {{"loss/train", 2.5}, {"loss/validation_sets/..", 3}}));
    CHECK(run.add(2, 1.5e9 + 1, {{"loss/train", NAN}}));
    CHECK(temp.read(at + "/metrics/loss/train") == "1500000000500 2.5 1\n1500000001000 nan 2\n");
    CHECK(temp.read(at + "/metrics/loss/validation_sets/__") == "1500000000500 3 1\n");
    CHECK(run.end(1.5e9 + 2));
    CHECK_THAT(temp.read(at + "/meta.yaml"),
               ContainsSubstring("end_time: 1500000002000\n") && ContainsSubstring("status: 3\n"));
    const std::string file = temp.write("file", "x");
    CHECK_THROWS_AS(MlflowRun(file, id, "a", {}, 0), InputError);
}

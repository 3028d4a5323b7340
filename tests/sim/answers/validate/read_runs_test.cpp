// Which values are read from the files of measured runs, and which messages do wrong files give?
#include "tests/sim/answers/validate/made_runs.h"
#include "tests/sim/specs/model/input_error_of.h"

using namespace sluice;
using nlohmann::json;

namespace {

std::string error_of(const std::string& path, const std::optional<std::string>& model = {}) {
    return input_error_of([&] { read_measured_runs({path}, model); });
}

/// The message for the report with a changed entry.
std::string error_with(const json::json_pointer& where, const json& value,
                       const std::optional<std::string>& model = {}) {
    const test::TemporaryFolder folder;
    json report = exact_report();
    report[where] = value;
    return error_of(folder.write("run.json", report.dump()), model);
}

json row_of(const char* system) {
    return {{"system", system},     {"model", "Qwen2.5-7B"},
            {"layers", 8},          {"untied_embeddings", true},
            {"batch", 32},          {"seq", 1024},
            {"step_s", 3.091},      {"device_peak_gb", 20.211},
            {"host_rss_gb", 47.75}, {"phases_s", {{"forward_backward", 1.458}, {"adam", 0.377}}}};
}

}  // namespace

TEST_CASE("measured runs: a report is read as the trainer writes it", "[validate]") {
    TrainingSpec training = small_training();
    training.buffer_depth = 3;
    training.clipping = Clipping::exact;
    training.distinct_tokens = 77;
    json report = exact_report(training);
    report["steps_measured"] = 24;
    const MeasuredRun run = read_one(report);
    CHECK(run.name == "run");
    CHECK(run.group == "look");
    CHECK(run.model.layer_count() == 3);
    CHECK(run.training.buffer_depth == 3);
    CHECK(run.training.clipping == Clipping::exact);
    CHECK(run.training.distinct_tokens == 77);
    CHECK(run.step == report["step_s"]);
    CHECK(run.device == report["measured_device_bytes"]);
    CHECK(run.host == report["measured_host_bytes"]);
    CHECK(run.steps == 24);
    CHECK(run.activations == Precision::bf16);
    CHECK(run.machine_name == small_machine().name);
    CHECK(run.operations.size() == report["operations"]["rows"].size());
    CHECK(run.operations.at(0).label == "weights in 0");
    CHECK(run.operations.at(0).lane == "host_to_device");
}

TEST_CASE("measured runs: updates ahead where all updates wait are refused", "[validate]") {
    TrainingSpec training = small_training();
    training.clipping = Clipping::exact;
    json report = exact_report(training);
    report["updates_ahead"] = false;
    CHECK_FALSE(read_one(report).updates_ahead);
    report["updates_ahead"] = true;
    CHECK_THAT(input_error_of([&] { read_one(report); }),
               ContainsSubstring("run.json: updates_ahead is true, but training has schedule "
                                 "streamed and clipping exact") &&
                   ContainsSubstring("expected false, or schedule streamed and clipping auto"));
    report["training"].erase("clipping");  // of a version without --clipping auto
    CHECK_THAT(input_error_of([&] { read_one(report); }),
               ContainsSubstring("clipping speculative"));
}

TEST_CASE("measured runs: layers, tied embeddings and missing options", "[validate]") {
    json report = exact_report();
    report["model"] = {{"name", "qwen2.5-0.5b"}, {"layers", 2}};
    report.erase("operations");
    report["training"].erase("clipping");
    MeasuredRun run = read_one(report);
    CHECK(run.model.layer_count() == 2);
    CHECK(run.model.tied_embeddings);  // as the model has it
    CHECK(run.training.clipping == Clipping::speculative);
    CHECK(run.operations.empty());
    report["model"]["tied_embeddings"] = false;
    CHECK_FALSE(read_one(report).model.tied_embeddings);
}

TEST_CASE("measured runs: older reports are read", "[validate]") {
    json report = exact_report();
    for (const char* key : {"steps_measured", "precision", "activations", "machine"})
        report.erase(key);
    const MeasuredRun run = read_one(report);
    CHECK(run.steps == 0);
    CHECK(run.activations == Precision::bf16);
    CHECK(run.machine_name.empty());
    report["precision"] = "fp32";
    CHECK(read_one(report).activations == Precision::fp32);
}

TEST_CASE("measured runs: a file given twice counts once", "[validate]") {
    const test::TemporaryFolder folder;
    const std::string file = folder.write("look/a.json", exact_report().dump());
    folder.write("look/b.json", exact_report().dump());
    const std::string again = (folder.path / "look" / ".." / "look" / "a.json").string();
    const MeasuredRuns read =
        read_measured_runs({file, (folder.path / "look").string(), again}, {});
    CHECK(read.runs.size() == 2);
    REQUIRE(read.left_out.size() == 2);
    for (const std::string& sentence : read.left_out)
        CHECK_THAT(sentence, ContainsSubstring("a.json: given twice: counted once"));
}

TEST_CASE("measured runs: --model stands for a name that says nothing here", "[validate]") {
    json report = exact_report();
    report["model"]["name"] = "some/folder/config.json";
    CHECK(read_one(report, kTinyModel).model.name == kTinyModel);
    const std::string error = error_with("/model/name"_json_pointer, "qwen9-7b");
    CHECK_THAT(error, ContainsSubstring("run.json: model.name is \"qwen9-7b\""));
    CHECK_THAT(error, ContainsSubstring("--model"));
    CHECK_THAT(error_with("/model/name"_json_pointer, "qwen9-7b", "qwen2.5-0.5b"),
               ContainsSubstring("model.parameters is"));  // another model than the one measured
}

TEST_CASE("measured runs: a folder stands for the reports below it, by group", "[validate]") {
    const test::TemporaryFolder folder;
    const std::string report = exact_report().dump();
    folder.write("runs/look/b.json", report);
    folder.write("runs/look/a.json", report);
    folder.write("runs/held-out/c.json", report);
    folder.write("runs/look/a-trace.json", R"({"traceEvents": []})");
    folder.write("runs/look/notes.txt", "no JSON");
    const MeasuredRuns read = read_measured_runs({(folder.path / "runs").string()}, {});
    REQUIRE(read.runs.size() == 3);
    CHECK(read.runs[0].group + " " + read.runs[0].name == "held-out c");
    CHECK(read.runs[1].group + " " + read.runs[1].name == "look a");
    CHECK(read.runs[2].group + " " + read.runs[2].name == "look b");
    REQUIRE(read.left_out.size() == 1);
    CHECK_THAT(read.left_out[0], ContainsSubstring("a-trace.json: no report"));
}

TEST_CASE("measured runs: rows of MegaTrain are taken, of a system without schedule left out",
          "[validate]") {
    const test::TemporaryFolder folder;
    const json table = {{"rows", {row_of("MegaTrain"), row_of("FSDP2"), row_of("FSDP2")}}};
    const MeasuredRuns read = read_measured_runs({folder.write("peers.json", table.dump())}, {});
    REQUIRE(read.runs.size() == 1);
    const MeasuredRun& run = read.runs[0];
    CHECK(run.group == "MegaTrain");
    CHECK(run.name == "megatrain Qwen2.5-7B, 8 of 28 layers, 32 x 1,024");
    CHECK(run.row == "rows[0]");
    CHECK(run.training.schedule == Schedule("megatrain"));
    CHECK(run.training.batch == 32);
    CHECK(run.model.layer_count() == 8);
    CHECK_FALSE(run.model.tied_embeddings);
    CHECK(run.device == 20'211'000'000);
    CHECK(run.host_between_steps);
    REQUIRE(run.phases.size() == 2);
    CHECK(run.phases[1].name == "adam");
    CHECK(run.phases[1].seconds == 0.377);
    REQUIRE(read.left_out.size() == 1);
    CHECK_THAT(read.left_out[0], ContainsSubstring("FSDP2: no schedule yet"));
}

TEST_CASE("measured runs: a row says how else it was trained", "[validate]") {
    const test::TemporaryFolder folder;
    json row = row_of("DeepSpeed ZeRO-3 CPU offload");
    row.erase("phases_s");
    row["training"] = {{"micro_batch", 8}, {"sub_group_elements", 100'000'000}};
    const json table = {{"rows", {row}}};
    const MeasuredRuns read = read_measured_runs({folder.write("peers.json", table.dump())}, {});
    REQUIRE(read.runs.size() == 1);
    CHECK(read.runs[0].training.micro_batch == 8);
    CHECK(read.runs[0].training.sub_group_elements == 100'000'000);
    CHECK(read.runs[0].name == "zero3-offload Qwen2.5-7B, 8 of 28 layers, 4 x 8 x 1,024");
}

TEST_CASE("measured runs: files that hold none are refused with a sentence", "[validate]") {
    const test::TemporaryFolder folder;
    CHECK_THAT(error_of((folder.path / "none.json").string()),
               ContainsSubstring("none.json: no such file"));
    CHECK_THAT(error_of(folder.write("text.json", "step_s: 3")),
               ContainsSubstring("not valid JSON"));
    const std::string profile = folder.write("profiles/machine.json", small_profile().dump());
    CHECK_THAT(error_of(profile), ContainsSubstring("holds no measured run; expected a report"));
    CHECK_THAT(error_of((folder.path / "profiles").string()),
               ContainsSubstring("the folder holds no measured run"));
    CHECK_THAT(error_of(folder.write("rows.json", R"({"rows": []})")),
               ContainsSubstring("rows is empty"));
    const json others = {{"rows", {row_of("FSDP2")}}};
    CHECK_THAT(error_of(folder.write("others.json", others.dump())),
               ContainsSubstring("no run is left to compare"));
}

TEST_CASE("measured runs: wrong entries are named with file, field and value", "[validate]") {
    CHECK_THAT(error_with("/measured"_json_pointer, false),
               ContainsSubstring("run.json: measured is not true, so this is a prediction"));
    CHECK_THAT(error_with("/step_s"_json_pointer, nullptr), ContainsSubstring("run.json: step_s"));
    CHECK_THAT(error_with("/step_s"_json_pointer, -1.5),
               ContainsSubstring("run.json: step_s is -1.5, expected a number from 1e-06"));
    CHECK_THAT(error_with("/step_s"_json_pointer, 0), ContainsSubstring("step_s is 0"));
    CHECK_THAT(error_with("/step_s"_json_pointer, 5e-7), ContainsSubstring("step_s is 5e-07"));
    CHECK_THAT(
        error_with("/step_s"_json_pointer, 86401),
        ContainsSubstring("run.json: step_s is 86401, expected a number from 1e-06 to 86400"));
    CHECK_THAT(error_with("/steps_measured"_json_pointer, -1),
               ContainsSubstring("steps_measured is -1"));
    CHECK_THAT(error_with("/activations"_json_pointer, "fp16"),
               ContainsSubstring("run.json: activations is \"fp16\", expected bf16 or fp32"));
    CHECK_THAT(error_with("/updates_ahead"_json_pointer, "yes"),
               ContainsSubstring("run.json: updates_ahead is \"yes\", expected true or false"));
    CHECK_THAT(error_with("/step_s"_json_pointer, "fast"), ContainsSubstring("step_s is \"fast\""));
    CHECK_THAT(error_with("/measured_host_bytes"_json_pointer, -4),
               ContainsSubstring("measured_host_bytes is -4"));
    CHECK_THAT(error_with("/measured_device_bytes"_json_pointer, 1e30),
               ContainsSubstring("measured_device_bytes is 1e+30"));
    CHECK_THAT(error_with("/model/layers"_json_pointer, 4),
               ContainsSubstring("model.layers is 4, but"));
    CHECK_THAT(error_with("/model/parameters"_json_pointer, 7),
               ContainsSubstring("model.parameters is 7, but"));
    CHECK_THAT(error_with("/training/batch"_json_pointer, -3), ContainsSubstring("batch is -3"));
    CHECK_THAT(error_with("/training/bacth"_json_pointer, 3),
               ContainsSubstring("unknown key \"bacth\""));
    CHECK_THAT(error_with("/operations/columns/0"_json_pointer, "name"),
               ContainsSubstring("operations.columns is"));
    CHECK_THAT(error_with("/operations/rows/2/4"_json_pointer, -1e6),
               ContainsSubstring("operations.rows[2] is not an operation"));
    CHECK_THAT(error_with("/operations/rows/1"_json_pointer, "forward"),
               ContainsSubstring("operations.rows[1] is not an operation"));
    CHECK_THAT(
        error_with("/operations/rows"_json_pointer, json::array()),
        ContainsSubstring("run.json: operations.rows is empty, expected one row per operation"));
}

TEST_CASE("measured runs: wrong rows of other systems are named", "[validate]") {
    const auto error_of_row = [](const char* key, const json& value) {
        const test::TemporaryFolder folder;
        json table = {{"rows", {row_of("MegaTrain")}}};
        table["rows"][0][key] = value;
        return error_of(folder.write("peers.json", table.dump()));
    };
    CHECK_THAT(error_of_row("step_s", -3), ContainsSubstring("peers.json: rows[0].step_s is -3"));
    CHECK_THAT(error_of_row("layers", 99), ContainsSubstring("rows[0].layers is 99"));
    CHECK_THAT(error_of_row("model", "Qwen9-7B"), ContainsSubstring("Qwen9-7B"));
    CHECK_THAT(error_of_row("phases_s", {{"adamm", 1.0}}),
               ContainsSubstring("did you mean \"adam\""));
    CHECK_THAT(error_of_row("training", {{"micro_batch", -2}}),
               ContainsSubstring("rows[0].training.micro_batch"));
    CHECK_THAT(error_of_row("training", {{"micro_bath", 2}}),
               ContainsSubstring("did you mean \"micro_batch\""));
}

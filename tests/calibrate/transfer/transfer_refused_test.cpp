// Is each mistake of a datasheet or a measured profile named with file, field and value?
#include "calibrate/transfer/transfer_profile.h"
#include "tests/calibrate/transfer/synthetic_profile.h"
#include "tests/catch.h"

namespace sluice {

TEST_CASE("transfer: what is wrong is stated with file, field and value", "[transfer]") {
    const auto transferred_text = [](const Json& from, const Json& to) {
        return transfer_profile({from.dump(), "profiles/syn.json"}, {to.dump(), "sheets/new.json"},
                                "2026-11-21");
    };
    const auto refused = [&](const Json& measured, const Json& datasheet, const char* message) {
        CHECK_THROWS_WITH(transferred_text(measured, datasheet), ContainsSubstring(message));
    };
    Json datasheet = same_datasheet();
    datasheet["schema"] = "sluice-machine/1";
    refused(measured_profile(), datasheet,
            "sheets/new.json: schema is \"sluice-machine/1\", expected \"sluice-datasheet/1\"");
    datasheet = same_datasheet();
    datasheet["gpu"].erase("multiprocessors");
    refused(measured_profile(), datasheet, "sheets/new.json: gpu.multiprocessors is missing");
    datasheet = same_datasheet();
    datasheet["gpu"]["memory_bandwidth_gb_per_s"]["value"] = -8000;
    refused(measured_profile(), datasheet,
            "sheets/new.json: gpu.memory_bandwidth_gb_per_s.value is -8000");
    datasheet = same_datasheet();
    datasheet["gpu"]["bf16_dense_tflop"] = datasheet_number(1);
    refused(measured_profile(), datasheet, "did you mean \"bf16_dense_tflops\"?");
    datasheet = same_datasheet();
    datasheet["gpu"]["tdp_w"]["method"] = "measured";
    refused(measured_profile(), datasheet,
            "sheets/new.json: gpu.tdp_w.method is \"measured\", expected none");
    datasheet = same_datasheet();
    datasheet["link"]["raw_per_direction_gb_per_s"]["source"] = "shet";
    refused(measured_profile(), datasheet, "did you mean \"sheet\"?");
    datasheet = same_datasheet();
    datasheet["gpu"].erase("name");
    refused(measured_profile(), datasheet, "sheets/new.json: gpu.name is missing");

    Json measured = measured_profile();
    measured["gpu"].erase("bf16_dense_tflops");
    refused(measured, same_datasheet(),
            "profiles/syn.json: gpu.bf16_dense_tflops is missing, expected a number to scale by; "
            "calibrate a GPU with --base");
    const Json again = Json::parse(transferred_text(measured_profile(), same_datasheet()));
    refused(again, same_datasheet(), "is transferred already, expected a measured profile");
    CHECK_THROWS_WITH(transfer_profile({"{", "a.json"}, {"{}", "b.json"}, "2026-11-21"),
                      ContainsSubstring("a.json"));
}

}  // namespace sluice

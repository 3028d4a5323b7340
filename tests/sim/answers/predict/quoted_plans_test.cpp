// Do the user's quotes reach every choice of a plan?
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/sim/base/program_run.h"

using namespace sluice::test;

namespace {

const std::string kMachine = "h200-sxm-pcie5-2tb";
const std::string kAsked =
    " --model llama-3.1-70b --layers 40 --clipping speculative --batch 64 --micro-batch 64 "
    "--passes 1 --deferred-layers 0 "
    "--host-gradient-slabs 4 --machine " +
    kMachine;

/// A provider rents multiples of that many GPUs.
std::string quotes(const TemporaryFolder& folder, int gpus) {
    const std::string file = (folder.path / (std::to_string(gpus) + ".csv")).string();
    std::ofstream(file) << "machine,provider,date,gpus,usd_per_hour\n"
                        << kMachine << ",Bidder,2026-11-01," << gpus << ',' << 3 * gpus << '\n';
    return " --quotes " + file;
}

nlohmann::json json_of(const std::string& arguments) {
    const Result result = run_sluice(arguments + " --json");
    INFO(result.output);
    REQUIRE(result.status == 0);
    return nlohmann::json::parse(result.output);
}

}  // namespace

TEST_CASE("quotes: host memory that costs more changes the plan in every answer", "[simulate]") {
    const TemporaryFolder folder;
    std::vector<int> kept;
    for (const int gpus : {8, 1}) {
        const std::string asked = kAsked + quotes(folder, gpus);
        const auto predicted = json_of("predict" + asked);
        const auto layers = predicted["training"]["host_kept_layers"].get<int>();
        kept.push_back(layers);
        const std::string flag = "--host-kept-layers " + std::to_string(layers);
        CHECK(json_of("cost" + asked)["tokens_per_s"] == predicted["tokens_per_s"]);
        const auto advised = json_of("advise" + asked + " --workers 1");
        CHECK_THAT(advised["machines"][0]["advice"]["best"]["flags"].get<std::string>(),
                   ContainsSubstring(flag));
        CHECK_THAT(
            run_sluice("report" + asked + " --out " + (folder.path / "page.html").string()).output,
            ContainsSubstring(flag));
        CHECK_THAT(run_sluice("compare --schedules streamed" + asked).output,
                   ContainsSubstring("host_kept_layers " + std::to_string(layers)));
    }
    // The whole node is paid anyway, or each GPU's part of its memory.
    CHECK(kept[0] > 2 * kept[1]);
}

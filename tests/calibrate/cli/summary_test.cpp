#include "calibrate/cli/write_profile.h"
#include "calibrate/profile/make_profile.h"
#include "tests/calibrate/profile/synthetic_machine.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

std::string summary_of(const Measurements& m, const std::optional<BaseProfile>& base = {}) {
    const MachineFits fits = fit_machine(m);
    return summary_text(parse_machine_profile(make_profile(m, fits, base), "x.json", "x"), m, fits);
}

/// The line that begins with `start`.
std::string line_of(const std::string& text, const std::string& start) {
    const std::size_t at = text.find("\n" + start);
    if (at == std::string::npos) return "no line " + start;
    return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

}  // namespace

TEST_CASE("summary: a number has its unit, its range and its spread") {
    const std::string text = summary_of(synthetic::gpu_machine());
    // 42 GB/s of 40 to 44.
    const std::string line = line_of(text, "link.both_ways_host_to_device_gb_per_s");
    CHECK_THAT(line, ContainsSubstring(" 42 GB/s "));
    CHECK_THAT(line, ContainsSubstring("40 to 44"));
    CHECK_THAT(line, ContainsSubstring("9.5%"));
    CHECK_THAT(line_of(text, "kernels.launch_us"), ContainsSubstring("1.1 us"));
    CHECK_THAT(line_of(text, "host.adam_gparams_per_s_by_threads"),
               ContainsSubstring("3  1: 1, 8: 3.5"));
}

TEST_CASE("summary: held-out errors of kernels and of rates under load, absence and warnings") {
    Measurements m = synthetic::gpu_machine();
    for (CaseRecord& record : m.cases)
        for (CaseTable& table : record.tables)
            if (table.name == "gemm_forward")
                for (auto& row : table.rows)
                    if (row.back() == 1) row[4] *= 1.25;  // predicted is 20% below
    const std::string text = summary_of(m);
    const std::string gemm = line_of(text, "gemm_forward");
    CHECK_THAT(gemm, ContainsSubstring(" 12 "));
    CHECK_THAT(gemm, ContainsSubstring("20.0%"));
    CHECK_THAT(gemm, ContainsSubstring("-20.0 to -20.0%"));
    CHECK_THAT(line_of(text, "all held out"), ContainsSubstring("worst 20.0%"));
    CHECK_THAT(text, ContainsSubstring("rates under mixed load"));
    CHECK_THAT(line_of(text, "gpu_interconnect"), ContainsSubstring("not present"));
    CHECK_THAT(text, ContainsSubstring("warning: adam: noisy"));
}

TEST_CASE("summary: what comes from a base was not measured here") {
    const std::string text =
        summary_of(synthetic::gpu_machine(), read_base_profile("h200-sxm-pcie5", "--base"));
    CHECK_THAT(text, !ContainsSubstring("gpu.bf16_dense_tflops"));
}

#include "sim/answers/audit/audit.h"

#include <fmt/format.h>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "tests/catch.h"
#include "tests/sim/base/program_run.h"

using namespace sluice;
using namespace sluice::test;

namespace {

std::string claims_text(const std::string& fields) {
    return fmt::format(
        R"({{"schema": "sluice.claims.1", "source": "a page", "claims": [{{"id": "one", "says": "words", {}}}]}})",
        fields);
}

Claim claim(const std::string& fields) {
    return parse_claims(claims_text(fields), "claims.json").claims.front();
}

AuditedClaim audited(const std::string& fields) {
    return audit(parse_claims(claims_text(fields), "claims.json")).front();
}

const Finding& by(const AuditedClaim& claim, const std::string& name) {
    for (const Finding& finding : claim.findings)
        if (finding.by == name) return finding;
    throw std::runtime_error("no finding by " + name);
}

const std::string k7b = R"("model": "qwen2.5-7b", "machine": "h200-sxm-pcie5-1tb")";

}  // namespace

TEST_CASE("audit: overlap raises a busy share to s / (1 - s) at most", "[audit]") {
    // 40 s of computing, 60 s of copies: one after the other 40%; overlapped 40 of 60.
    CHECK(most_busy_overlapped(0.4) == Approx(40.0 / 60));
    CHECK(most_busy_overlapped(0.5) == 1);
    CHECK(most_busy_overlapped(0.9) == 1);
    CHECK(most_busy_overlapped(0) == 0);
}

TEST_CASE("audit: states against memory", "[audit]") {
    // 70.55 B parameters: 847 GB at 12 bytes, 353 at 5, 282 at 4; the device has 151 GB.
    const std::string model = R"("model": "llama-3.1-70b", "machine": "h200-sxm-pcie5", )";
    const auto bytes = [&](const std::string& rest) {
        return by(AuditedClaim{"", "", check_memory(claim(model + rest))}, "bytes");
    };
    CHECK(bytes(R"("host_memory_gb": 128)").verdict == Verdict::impossible);
    CHECK_THAT(bytes(R"("host_memory_gb": 128)").sentence,
               ContainsSubstring("846.6 GB at 12 bytes a parameter, 282.2 GB at 4"));
    CHECK(bytes(R"("host_memory_gb": 256)").verdict == Verdict::doubtful);
    CHECK_THAT(bytes(R"("host_memory_gb": 256)").would_need,
               ContainsSubstring("at most 5 bytes a parameter"));
    CHECK(bytes(R"("host_memory_gb": 256, "storage_gb": 1000)").verdict == Verdict::doubtful);
    CHECK_THAT(bytes(R"("host_memory_gb": 256, "storage_gb": 1000)").would_need,
               ContainsSubstring("of the states on storage"));
    CHECK(bytes(R"("host_memory_gb": 800)").verdict == Verdict::possible);
}

TEST_CASE("audit: a GPU that is not sold so", "[audit]") {
    const AuditedClaim wrong = audited(k7b + R"(, "gpu_memory_gb": 80)");
    CHECK(wrong.verdict() == Verdict::impossible);
    CHECK_THAT(by(wrong, "machine").would_need, ContainsSubstring("H100 SXM 80 GB"));
    CHECK(by(audited(k7b + R"(, "gpu_memory_gb": 141)"), "machine").verdict == Verdict::possible);
}

TEST_CASE("audit: speeds against FLOPs and the simulator", "[audit]") {
    // 989 TFLOPS / (6 x 7.62 B) = 21,644 tokens/s.
    CHECK(audited(k7b + R"(, "tokens_per_s": 22000)").verdict() == Verdict::impossible);
    CHECK(audited(k7b + R"(, "tokens_per_s": 20000)").verdict() == Verdict::doubtful);
    const AuditedClaim slow = audited(k7b + R"(, "tokens_per_s": 3000)");
    CHECK(slow.verdict() == Verdict::possible);
    CHECK_THAT(slow.findings.back().sentence, ContainsSubstring("reached by a batch of 8"));
}

TEST_CASE("audit: a step must have the tokens that its copies take time for", "[audit]") {
    const Claim small = claim(
        R"("model": "120b", "machine": "h200-sxm-pcie5-1.5tb", "tokens_per_s": 700, "training": {"batch": 1, "seq": 1024})");
    const std::vector<Finding> findings = check_rates(small);
    REQUIRE(findings.size() == 2);
    CHECK(findings.back().by == "link");
    CHECK(findings.back().verdict == Verdict::impossible);
    // 239.6 GB of weights, of which the device may keep 150.8: 88.9 GB at 55 GB/s, not all.
    const Claim slower = claim(
        R"("model": "120b", "machine": "h200-sxm-pcie5-1.5tb", "tokens_per_s": 600, "training": {"batch": 1, "seq": 1024})");
    CHECK(check_rates(slower).back().verdict == Verdict::possible);
    CHECK_THAT(check_rates(slower).back().sentence, ContainsSubstring("88.9 GB"));
}

TEST_CASE("audit: speedups and busy shares", "[audit]") {
    CHECK(audited(k7b + R"(, "speedup": {"over": "zero3-offload", "times": 100})").verdict() ==
          Verdict::doubtful);
    CHECK(audited(k7b + R"(, "speedup": {"over": "zero3-offload", "times": 2})").verdict() ==
          Verdict::possible);
    CHECK(audited(k7b + R"(, "training": {"batch": 32}, "gpu_busy": [{"low": 0.9, "high": 1}])")
              .verdict() == Verdict::possible);
    const AuditedClaim doubtful = audited(
        k7b + R"(, "gpu_busy": [{"training": {"buffer_depth": 1}, "high": 0.4}, {"low": 0.85}])");
    CHECK(by(doubtful, "overlap").verdict == Verdict::doubtful);
    CHECK_THAT(by(doubtful, "overlap").sentence, ContainsSubstring("at most 67%"));
}

TEST_CASE("audit: mistakes name file, field and value", "[audit]") {
    const auto refused = [](const std::string& fields, const std::string& part) {
        INFO(fields);
        CHECK_THROWS_WITH(parse_claims(claims_text(fields), "claims.json"),
                          ContainsSubstring("claims.json") && ContainsSubstring(part));
    };
    refused(k7b + R"(, "tokens_per_second": 1)", "did you mean \"tokens_per_s\"?");
    refused(k7b + R"(, "tokens_per_s": -5)", "-5");
    refused(k7b + R"(, "training": {"bach": 1})", "did you mean \"batch\"?");
    refused(k7b + R"(, "speedup": {"over": "zero4", "times": 2})", "zero4");
    CHECK_THROWS_WITH(
        parse_claims(R"({"schema": "sluice.claims.1", "source": "x", "claims": []})", "c.json"),
        ContainsSubstring("c.json") && ContainsSubstring("state at least one"));
    CHECK_THROWS_WITH(parse_claims(R"({"schema": "2", "source": "x", "claims": []})", "c.json"),
                      ContainsSubstring("expected \"sluice.claims.1\""));
    check_sluice_mistake("audit /no/such/file.json", {"/no/such/file.json"});
}

TEST_CASE("audit: a cluster has the memory, the FLOPs and the links of all its GPUs", "[audit]") {
    // 70.55 B parameters: 847 GB of states, 8 x 80 GB of device memory and one host of 2 TB.
    const std::string eight =
        R"("model": "llama-3.1-70b", "machine": "h100-sxm-pcie5", "host_memory_gb": 300,
           "training": {"schedule": "cluster", "gpus": 8})";
    const std::string one = R"("model": "llama-3.1-70b", "machine": "h100-sxm-pcie5",
                               "host_memory_gb": 300)";
    CHECK(by(AuditedClaim{"", "", check_memory(claim(one))}, "bytes").verdict == Verdict::doubtful);
    const Finding states = by(AuditedClaim{"", "", check_memory(claim(eight))}, "bytes");
    CHECK(states.verdict == Verdict::possible);
    CHECK_THAT(states.sentence, ContainsSubstring("memory of 8 GPUs"));
    // 989 TFLOPS / (6 x 70.55 B) = 2,336 tokens/s of one GPU.
    const auto flops = [&](const std::string& fields, const std::string& speed) {
        return by(
            AuditedClaim{"", "", check_rates(claim(fields + R"(, "tokens_per_s": )" + speed))},
            "FLOPs");
    };
    CHECK(flops(one, "5000").verdict == Verdict::impossible);
    CHECK(flops(eight, "5000").verdict == Verdict::possible);
    CHECK(flops(eight, "19000").verdict == Verdict::impossible);
    // Two nodes have two hosts.
    const std::string sixteen = R"("model": "llama-3.1-70b", "machine": "h100-sxm-pcie5",
        "host_memory_gb": 300, "training": {"schedule": "cluster", "gpus": 16, "batch": 16})";
    CHECK_THAT(by(AuditedClaim{"", "", check_memory(claim(sixteen))}, "bytes").sentence,
               ContainsSubstring(format_bytes(600e9 + 16 * 85'017'500'000.0)));
    CHECK_THAT(by(audited(eight), "simulated").sentence, !ContainsSubstring("multiple of --gpus"));
}

TEST_CASE("audit: states on storage are judged by its rates", "[audit]") {
    // 120 B parameters, 1.44 TB of states, 1.2 TB of memory: 288 GB are read and written at 12
    // bytes a parameter, none at 4.
    const std::string claimed = R"("model": "120b", "machine": "h200-sxm-pcie5",
        "host_memory_gb": 1000, "tokens_per_s": 700, "training": {"batch": 4, "seq": 1024},
        "storage_gb": 2000)";
    const std::string rates = R"(, "storage_read_gb_per_s": 10, "storage_write_gb_per_s": 10)";
    const auto storage = [&](const std::string& fields) {
        return by(AuditedClaim{"", "", check_rates(claim(fields))}, "storage");
    };
    const Finding slow = storage(claimed + rates);
    CHECK(slow.verdict == Verdict::doubtful);
    CHECK_THAT(slow.would_need, ContainsSubstring("at 4 bytes a parameter all are in memory"));
    CHECK(storage(claimed).verdict == Verdict::doubtful);
    CHECK_THAT(storage(claimed).would_need, ContainsSubstring("storage_read_gb_per_s"));
    const std::string little = R"("model": "120b", "machine": "h200-sxm-pcie5",
        "host_memory_gb": 100, "tokens_per_s": 700, "training": {"batch": 4, "seq": 1024},
        "storage_gb": 2000)";
    CHECK(storage(little + rates).verdict == Verdict::impossible);
    // Where no memory holds the states, the schedule that has them on storage is predicted.
    // 32.8 B parameters need some 205 GB at 6 bytes, of which the device takes few; ZeRO-Infinity's
    // buffers and pages take 182.
    const AuditedClaim infinity = audited(R"("model": "qwen2.5-32b", "host_memory_gb": 190,
        "machine": "h200-pcie5-16vcpu-128gib", "storage_gb": 2000,
        "training": {"device_budget_bytes": 16e9},
        "storage_read_gb_per_s": 6, "storage_write_gb_per_s": 4)");
    CHECK_THAT(by(infinity, "simulated").sentence, ContainsSubstring("ZeRO-Infinity"));
    CHECK(infinity.verdict() == Verdict::doubtful);  // smaller states, or storage
}

TEST_CASE("audit: an unknown model or machine is named with file and field", "[audit]") {
    const auto message = [](const std::string& fields) {
        try {
            parse_claims(claims_text(fields), "claims.json");
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string model = message(R"("model": "qwen2.5-8b", "machine": "gh200-480gb")");
    CHECK_THAT(model, ContainsSubstring("claims.json: claims[0].model") &&
                          ContainsSubstring("qwen2.5-8b"));
    CHECK(model.find("--model") == std::string::npos);
    const std::string machine = message(R"("model": "qwen2.5-7b", "machine": "gh20")");
    CHECK_THAT(machine, ContainsSubstring("claims.json: claims[0].machine") &&
                            ContainsSubstring("\"gh20\""));
}

// sluice sweep under mpirun: the same rows, also where a rank is lost. Only where MPI was found.
#include <sstream>

#include "tests/sim/base/program_run.h"

using namespace sluice::test;

#ifdef SLUICE_MPIRUN
namespace {

const std::string kSweep =
    "sweep --model qwen2.5-7b qwen2.5-14b --machine h200-pcie5-16vcpu-128gib gh200-480gb "
    "--batch 4,8,16,32 --micro-batch 0,2 --buffer-depth 1,2 --recompute full,none ";

// As root, and with more ranks than processors.
const std::string kMpirun =
    "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 25 '" SLUICE_MPIRUN
    "' --oversubscribe ";

std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("sweep under mpirun: the same file as without", "[search]") {
    const TemporaryFolder folder;
    const std::filesystem::path alone = folder.path / "alone.jsonl", ranks = folder.path / "ranks";
    REQUIRE(run_sluice(kSweep + "--json --out " + alone.string()).status == 0);
    const Result run =
        shell(kMpirun + "-n 3 " + kSluice + kSweep + "--json --out " + ranks.string() + " 2>&1");
    INFO(run.output);
    CHECK(run.status == 0);
    CHECK(!text_of(alone).empty());
    CHECK(text_of(alone) == text_of(ranks));
}

TEST_CASE("sweep under mpirun: a lost rank's work is done by another", "[search]") {
    const TemporaryFolder folder;
    const std::filesystem::path alone = folder.path / "alone.jsonl", ranks = folder.path / "ranks";
    REQUIRE(run_sluice(kSweep + "--json --out " + alone.string()).status == 0);
    // The second of three ranks is killed as soon as it works, which it does in a process of its
    // own: one that dies while MPI starts would keep the others there.
    const std::string script = folder.write(
        "rank.sh",
        "#!/bin/sh\nif [ \"$OMPI_COMM_WORLD_RANK\" = 1 ]; then\n"
        "  ((until grep -q . /proc/$$/task/$$/children || [ ! -e /proc/$$ ]; do :; done\n"
        "    kill -9 $$) &)\nfi\nexec " +
            kSluice + kSweep + "--json --out " + ranks.string() + "\n");
    // Some times Open MPI 4.1 itself hangs when a rank is gone (timeout says 124): once more.
    Result run;
    for (int attempt = 0; attempt < 3; ++attempt) {
        std::filesystem::remove(ranks);
        run = shell(kMpirun + "--enable-recovery -n 3 sh " + script + " 2>&1");
        if (run.status != 124) break;
    }
    CHECK(run.status != 124);
    // Open MPI 4.1 says "PMIX ERROR: BAD-PARAM" of a rank that is gone, and goes on.
    INFO(run.output);
    CHECK_THAT(run.output, ContainsSubstring("a rank is lost"));
    CHECK(!text_of(alone).empty());
    CHECK(text_of(alone) == text_of(ranks));
}

TEST_CASE("sweep under mpirun: mistakes are said once", "[search]") {
    const Result run = shell(kMpirun + "-n 2 " + kSluice + "sweep --model gpt2 2>&1");
    CHECK(run.status == 2);
    const std::string sentence = "no machine to sweep";
    const std::size_t at = run.output.find(sentence);
    REQUIRE(at != std::string::npos);
    CHECK(run.output.find(sentence, at + 1) == std::string::npos);
}
#endif

TEST_CASE("sweep: a rank that is told of others takes no number of workers", "[search]") {
    const Result run = shell("OMPI_COMM_WORLD_SIZE=2 " + kSluice +
                             "sweep --model gpt2 --machine gh200-480gb --seq 512 --workers 3 2>&1");
    CHECK(run.status == 2);
    CHECK_THAT(run.output, ContainsSubstring("--workers is 3"));
}

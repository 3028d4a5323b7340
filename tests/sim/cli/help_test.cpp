// Does --help fit on two screens, name the values, and show the options of the system that is asked
// for?
#include "sim/command_line/help.h"

#include <sstream>

#include "sim/specs/scenario/training_spec.h"
#include "tests/sim/base/program_run.h"

using namespace sluice;
using namespace sluice::test;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

/// Columns of a terminal: UTF-8 bytes that begin a character.
std::size_t columns_of(const std::string& line) {
    return static_cast<std::size_t>(std::ranges::count_if(
        line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string help_of(const std::string& arguments) {
    const Result result = run_sluice(arguments);
    CHECK(result.status == 0);
    return result.output;
}

bool has_flag(const std::string& help, const Option& option) {
    return help.find("\n  " + option_flag(option) + " " + option_value(option)) !=
           std::string::npos;
}

}  // namespace

TEST_CASE("cli: --help fits on two screens of 100 columns and names each value", "[cli]") {
    for (const std::string command : {"",
                                      "predict",
                                      "explain",
                                      "compare",
                                      "choose",
                                      "advise",
                                      "sweep",
                                      "fit",
                                      "sensitivity",
                                      "audit",
                                      "cost",
                                      "report",
                                      "validate",
                                      "models",
                                      "models show",
                                      "machines",
                                      "machines show",
                                      "machines diff",
                                      "predict --schedule zero3-offload",
                                      "predict --schedule cluster",
                                      "predict --schedule megatrain"}) {
        for (const char* flag : {" --help", " --help-all"}) {
            const std::string help = help_of(command + flag);
            INFO(command << flag << "\n" << help);
            const std::vector<std::string> lines = lines_of(help);
            CHECK((lines.size() <= kHelpLines || flag == std::string_view(" --help-all")));
            for (const std::string& line : lines) {
                CHECK(columns_of(line) <= kHelpColumns);
                CHECK_FALSE(line.ends_with(' '));
            }
            CHECK_THAT(help, !ContainsSubstring("TEXT") && !ContainsSubstring("INT"));
        }
    }
}

TEST_CASE("cli: --help of predict has each option of the system and no other", "[cli]") {
    for (const ScheduleRecord& record : schedule_table()) {
        const std::string help =
            help_of("predict --schedule " + std::string(record.name) + " --help");
        CAPTURE(help);
        for (const Option& option : training_options()) {
            CAPTURE(option.field);
            CHECK(has_flag(help, option) == has_option(Schedule(record), option));
        }
    }
    CHECK(help_of("predict --help") == help_of("predict --schedule streamed --help"));
}

TEST_CASE("cli: --help-all has all options with their ranges", "[cli]") {
    const std::string help = help_of("predict --help-all");
    for (const Option& option : training_options()) {
        CAPTURE(option.field);
        CHECK(has_flag(help, option));
    }
    CHECK_THAT(help, ContainsSubstring("0 to 10,000, default 0"));
}

TEST_CASE("cli: --help-all of a named system has its options alone", "[cli]") {
    const std::string help = help_of("predict --schedule zero3-offload --help-all");
    for (const Option& option : training_options()) {
        CAPTURE(option.field);
        CHECK(has_flag(help, option) == has_option(Schedule("zero3-offload"), option));
    }
}

TEST_CASE("cli: help says which numbers an option takes, and what layers need", "[cli]") {
    const std::string help = help_of("predict --help-all");
    CHECK_THAT(help, !ContainsSubstring("4 to 12") && !ContainsSubstring("8 to 16"));
    CHECK_THAT(help_of("predict --help"), ContainsSubstring("if --clipping is auto or exact"));
}

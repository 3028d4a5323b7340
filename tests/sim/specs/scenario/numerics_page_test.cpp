// Does the page of numerics have a row for each option of the trainer?
#include <fstream>
#include <iterator>
#include <regex>

#include "sim/specs/scenario/training_spec.h"
#include "tests/catch.h"

namespace sluice {

TEST_CASE("training spec: numerics.md says what each option of the trainer does to numbers",
          "[plan]") {
    std::ifstream file(SLUICE_SOURCE_DIR "/docs/numerics.md");
    const std::string page(std::istreambuf_iterator<char>(file), {});
    for (const Option& option : training_options()) {
        CAPTURE(option.field);
        if (has_option(Schedule(), option))
            CHECK(std::regex_search(page, std::regex(option_flag(option) + "(?![-a-z])")));
    }
}

}  // namespace sluice

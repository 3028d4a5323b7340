// Do text, JSON, CSV and chart say the same of systems with given speeds?
#include <nlohmann/json.hpp>
#include <regex>

#include "sim/answers/compare/comparison.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/to_svg.h"
#include "tests/catch.h"
#include "tests/sim/answers/compare/made_comparison.h"

using namespace sluice;
using nlohmann::json;

namespace {

/// Ours and one that does not fit.
std::vector<Comparison> with_misfit() {
    return {
        {{made_system(Schedule("streamed"), 1000), made_misfit(Schedule("megatrain"), 500, 800)}}};
}

std::vector<Comparison> two_counts() {
    const Comparison c{
        {made_system(Schedule("streamed"), 1000), made_system(Schedule("megatrain"), 500)}};
    return {with_layers(c, 4), with_layers(c, 8)};
}

std::string line_with(const std::string& text, const std::string& start) {
    const std::size_t at = text.find("\n" + start);
    REQUIRE(at != std::string::npos);
    return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

/// Widths of the bars, from top to bottom.
std::vector<double> bar_widths(const std::string& svg) {
    static const std::regex bar(R"re(<rect x="[^"]*" y="[^"]*" width="([^"]*)"[^>]*><title>)re");
    std::vector<double> widths;
    for (std::sregex_iterator match(svg.begin(), svg.end(), bar), end; match != end; ++match)
        widths.push_back(std::stod((*match)[1]));
    return widths;
}

}  // namespace

TEST_CASE("compare: a row a system, with speed, memory and what is short", "[compare]") {
    const std::string text = comparison_text(with_misfit());
    const std::string ours = line_with(text, "streamed");
    for (const char* part :
         {"yes", "1,000", "909 to 1,111", "1.00x", "40.0 GB", "250.0 GB", "optimizer 75%"}) {
        INFO(part);
        CHECK_THAT(ours, ContainsSubstring(part));
    }
    const std::string misfit = line_with(text, "megatrain ");
    CHECK_THAT(misfit, ContainsSubstring("NO") && ContainsSubstring("90.0 GB"));
    CHECK_THAT(misfit, !ContainsSubstring("500"));  // a speed that cannot be reached
    CHECK_THAT(text, ContainsSubstring("(short 10.0 GB)"));
    CHECK_THAT(text, ContainsSubstring("\n  fits with --batch 5"));
}

TEST_CASE("compare: a trend has a row a number of layers", "[compare]") {
    const std::string text = comparison_text(two_counts());
    for (const char* layers : {"     4 ", "     8 "}) {
        const std::string row = line_with(text, layers);
        CHECK_THAT(row, ContainsSubstring("1,000  1.00x") && ContainsSubstring("500  0.50x"));
    }
    CHECK_THAT(text, ContainsSubstring("0.50x of streamed with 4 layers, 0.50x with 8"));
}

TEST_CASE("compare: the JSON has the numbers, units in its keys", "[compare]") {
    const json out = json::parse(comparison_json(with_misfit()));
    const json& systems = out["comparisons"][0]["systems"];
    CHECK(out["left_out"].empty());
    REQUIRE(systems.size() == 2);
    CHECK(systems[0]["tokens_per_s"] == 1000.0);
    CHECK(systems[0]["tokens_per_s_5_percent"].get<double>() == Approx(1000 / 1.1));
    CHECK(systems[0]["relative_speed"] == 1.0);
    CHECK(systems[0]["fits"] == true);
    CHECK(systems[0]["fits_with"].is_null());
    CHECK(systems[0]["states"] == "fp32 master + fp32 moments");
    CHECK(systems[1]["states"] == "bf16 master + fp32 moments");
    CHECK(systems[1]["fits"] == false);
    CHECK(systems[1]["relative_speed"].is_null());
    CHECK(systems[1]["device"]["short_bytes"] == 10'000'000'000);
    CHECK(systems[1]["fits_with"]["flags"] == "--batch 5");
    CHECK(systems[1]["settings"]["checkpoint_interval"] == 4);
    CHECK_FALSE(systems[1]["settings"].contains("buffer_depth"));
    CHECK(json::parse(comparison_json(two_counts()))["comparisons"].size() == 2);
}

TEST_CASE("compare: the CSV has one line per system and number of layers", "[compare]") {
    const std::string csv = comparison_csv(two_counts());
    CHECK(count(csv, "\n") == 5);
    CHECK(count(csv, "\ntiny,8,box,1,10,100,megatrain,") == 1);
    CHECK(count(csv, ",bf16 master + fp32 moments,") == 2);
    static const std::regex quoted("\"[^\"]*\"");
    const std::string plain = std::regex_replace(csv, quoted, "quoted");
    const std::string head = plain.substr(0, plain.find('\n'));
    CHECK(count(plain, ",") == 5 * count(head, ","));
}

TEST_CASE("compare: bars are as long as tokens/s; what does not fit is grey", "[compare]") {
    const std::string svg = to_svg(bars_picture(comparison_bars(with_misfit())));
    const std::vector<double> widths = bar_widths(svg);
    REQUIRE(widths.size() == 2);
    CHECK(widths[1] == Approx(widths[0] / 2).epsilon(1e-3));
    CHECK_THAT(svg, ContainsSubstring("does not fit: device short 10.0 GB"));
    CHECK(count(svg, "fill=\"#dddddd\"") == 1);
    CHECK(bar_widths(to_svg(bars_picture(comparison_bars(two_counts())))).size() == 4);
}

#include "sim/specs/scenario/quotes.h"

#include "sim/base/input_error.h"
#include "sim/specs/scenario/purchase.h"
#include "tests/catch.h"
#include "tests/sim/base/temporary_folder.h"

namespace sluice {
namespace {

using namespace Catch::Matchers;

std::vector<Quote> quotes_of(const std::string& text) {
    const test::TemporaryFolder folder;
    return read_quotes(folder.write("bids.csv", text));
}

TEST_CASE("quotes: a file of bids becomes offers and a purchase", "[cost]") {
    const std::vector<Quote> quotes = quotes_of(
        "provider, machine, gpus, usd_per_hour, usd, date\r\n"
        "Cloud A, h200-sxm-pcie5, 8, 24, , 2026-11-02\r\n"
        "\n"
        "Cloud B, h200-sxm-pcie5, 4, 20, , 2026-11-03\n"
        "Maker, h200-sxm-pcie5, 8, , 320000, 2026-11-04\n"
        "Dealer, h200-sxm-pcie5, 4, , 140000, 2026-11-05\n"
        "Other, gh200-480gb, 1, 2, , 2026-11-05\n");
    REQUIRE(quotes.size() == 5);
    const PriceList prices = price_list(read_machine_profile("h200-sxm-pcie5"), quotes);
    REQUIRE(rents(prices).size() == 2);  // the listed rents do not mix with quotes
    CHECK(rents(prices).front().usd_per_hour == 3);
    // Needs 6 of 8 GPUs: Cloud A rents 8 of them; two offers of 4 are no node.
    const NodeShare share{.gpus = 1, .node_gpus = 8, .host_memory = 0.7};
    const auto typical = typical_rent(prices, share);
    REQUIRE(typical.has_value());
    CHECK(typical->usd_per_hour == 24);
    CHECK_THAT(typical->origin, ContainsSubstring("quoted, 2026-11-02"));
    // The same for purchases. A plan of 4 GPUs has the smaller system.
    const Purchase all = purchase(prices, {}, share);
    CHECK(all.usd == 320'000);
    CHECK(all.missing.empty());
    CHECK_THAT(all.origin, ContainsSubstring("quoted by Maker, 2026-11-04"));
    CHECK(purchase(prices, {}, {.gpus = 4, .node_gpus = 8}).usd == 140'000);
    // One GPU with a host of its own: half a node at $140,000, though a GPU of it costs no less.
    CHECK(purchase(prices, {}, {.gpus = 1, .node_gpus = 1}).usd == 140'000);
}

TEST_CASE("quotes: of systems of several sizes the least dollars are paid", "[cost]") {
    const std::vector<Quote> quotes = quotes_of(
        "provider,machine,gpus,usd,date\n"
        "Maker,h200-sxm-pcie5,8,240000,2026-11-04\n"
        "Dealer,h200-sxm-pcie5,4,140000,2026-11\n");
    const PriceList prices = price_list(read_machine_profile("h200-sxm-pcie5"), quotes);
    CHECK(prices.systems.size() == 2);
    CHECK(purchase(prices, {}, {.gpus = 8, .node_gpus = 8}).usd == 240'000);
    CHECK(purchase(prices, {}, {.gpus = 4, .node_gpus = 4}).usd == 140'000);
}

TEST_CASE("quotes: of a provider's sizes the one is paid that holds the plan", "[cost]") {
    const std::vector<Quote> quotes = quotes_of(
        "provider,machine,gpus,usd_per_hour,date\n"
        "Cloud,h200-sxm-pcie5,8,24,2026-11-04\n"
        "Cloud,h200-sxm-pcie5,16,45,2026-11-04\n");
    CostQuery query;
    query.quotes = quotes;
    query.offer = "Cloud";
    const PriceList prices = prices_to_choose_by(read_machine_profile("h200-sxm-pcie5"), query);
    CHECK(prices.offers.size() == 2);
    CHECK(prices.offers[0].path != prices.offers[1].path);
    CHECK(typical_rent(prices, {.gpus = 8, .node_gpus = 8})->usd_per_hour == 24);
    CHECK(typical_rent(prices, {.gpus = 16, .node_gpus = 8})->usd_per_hour == 45);
}

TEST_CASE("quotes: a file of a spreadsheet may have a byte order mark and quoted cells", "[cost]") {
    const std::vector<Quote> quotes = quotes_of(
        "\xEF\xBB\xBFmachine,provider,date,gpus,usd\r\n"
        "h200-sxm-pcie5,\"Maker \"\"East\"\", Inc.\",2026-11-04,8,\"$260,000\"\r\n");
    CHECK(quotes.front().provider == "Maker \"East\", Inc.");
    CHECK(quotes.front().usd == 260'000);
}

TEST_CASE("quotes: a mistake is named with its line, column and value", "[cost]") {
    const std::string header = "machine,provider,date,gpus,usd_per_hour,usd\n";
    const auto message = [&](const std::string& text) -> std::string {
        try {
            quotes_of(text);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    CHECK_THAT(message("{\"machine\": 1}\n"),
               ContainsSubstring("expected a CSV file of quotes, whose line 1 is: machine,"));
    CHECK_THAT(message("machine,price\n"), ContainsSubstring("line 1 has the column \"price\""));
    CHECK_THAT(message("machine,provider,date\n"), ContainsSubstring("lacks the column gpus"));
    CHECK_THAT(message("machine,provider,date,gpus\n"),
               ContainsSubstring("usd_per_hour for rents"));
    CHECK_THAT(message("machine,usd,usd\n"), ContainsSubstring("line 1 has usd twice"));
    CHECK_THAT(message(header), ContainsSubstring("no quotes follow line 1"));
    CHECK_THAT(message(header + "h200-sxm-pcie5,A,2026,8\n"),
               ContainsSubstring("line 2 has 4 cells, expected 6"));
    CHECK_THAT(message(header + "h200-sxm,A,2026,8,1,\n"), ContainsSubstring("did you mean"));
    CHECK_THAT(message(header + "h200-sxm-pcie5,A,2026,none,1,\n"),
               ContainsSubstring("line 2: gpus is \"none\", expected a number from 1"));
    CHECK_THAT(message(header + "h200-sxm-pcie5,A,2026,2.5,1,\n"),
               ContainsSubstring("gpus is \"2.5\", expected a whole number"));
    CHECK_THAT(message(header + "h200-sxm-pcie5,A,2026,8,1,2\n"),
               ContainsSubstring("expected one of them"));
    for (const char* const date : {"2026-13-45", "2026-02-30", "26-11", "2026-", "today"})
        CHECK_THAT(message(header + "h200-sxm-pcie5,A," + date + ",8,1,\n"),
                   ContainsSubstring("line 2: date is"));
    CHECK_THAT(message(header + "h200-sxm-pcie5,,2026,8,1,\n"),
               ContainsSubstring("line 2: provider is empty"));
}

}  // namespace
}  // namespace sluice

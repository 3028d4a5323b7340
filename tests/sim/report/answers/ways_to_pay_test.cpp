// Is every way to pay a row, and is the break-even where the two costs are equal?
#include <algorithm>

#include "sim/answers/cost/full_node.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/to_svg.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

PaidRun paid(const char* name, std::optional<OfferKind> kind, double usd_per_hour) {
    PaidRun out;
    out.payment.name = name;
    out.payment.kind = kind;
    out.payment.usd_per_hour = out.run.usd_per_hour = usd_per_hour;
    return out;
}

/// A machine of $80,000 that takes $1 of electricity an hour, or $9 of rent an hour.
CostAnswer rent_or_buy(double interest) {
    CostAnswer out;
    out.terms.interest = interest;
    out.terms.utilization = 0.5;
    out.rent = paid("a cloud", OfferKind::rented, 9);
    out.bought = paid("bought", {}, 3);
    out.bought->payment.ownership = Ownership::buy;
    out.bought->payment.price_usd = 80'000;
    out.bought->run.usd_per_hour = 4;
    out.payment = out.rent->payment;
    out.run = out.rent->run;
    out.others = {paid("a contract", OfferKind::reserved, 5),
                  paid("an owner", OfferKind::estimate, 4), paid("spot", OfferKind::spot, 2),
                  *out.bought};
    out.others[0].run.spent.value = 5 * 3 * 8766.0;
    out.others[3].run.spent.value = 80'000;
    out.break_even = break_even(9, 1, 80'000, out.terms);
    return out;
}

std::vector<std::string> headings(const Table& table) {
    std::vector<std::string> out;
    for (const Row& row : table.rows)
        if (!row.heading.empty()) out.push_back(row.heading);
    return out;
}

}  // namespace

TEST_CASE("ways to pay: a rent and a purchase cost the same at their break-even", "[cost]") {
    for (const double interest : {0.0, 0.1}) {
        const CostAnswer answer = rent_or_buy(interest);
        REQUIRE(answer.break_even);
        const double months = answer.break_even->months;
        CHECK(cost_today(9, months, answer.terms) ==
              Approx(80'000 + cost_today(1, months, answer.terms)));
        if (interest == 0) CHECK(months == Approx(12 * 80'000 / (8 * 0.5 * 8766.0)));
        const auto picture = break_even_picture(answer);
        REQUIRE(picture);
        CHECK(to_svg(*picture).find("months of ownership") != std::string::npos);
        CHECK(place_of(*picture, 2));
    }
}

TEST_CASE("ways to pay: each way has its rows, and what is taken is marked", "[cost]") {
    CostAnswer answer = rent_or_buy(0);
    const Table table = ways_to_pay_table(answer, {});
    CHECK(headings(table) ==
          std::vector<std::string>{"rent by the hour", "rent that the provider may end at any time",
                                   "reserve for three years (estimate)",
                                   "the costs of a cluster to its owner (estimate)",
                                   "buy whole machines"});
    CHECK(table.rows.front().marked);
    CHECK(std::ranges::count_if(table.rows, &Row::marked) == 1);

    // Each commits the payer to this: three years at $5 an hour, nothing beyond what an owner has
    // paid, the whole purchase.
    const auto column = std::ranges::find_if(
        table.columns, [](const Column& one) { return one.key == "committed_usd"; });
    REQUIRE(column != table.columns.end());
    const auto committed = [&](std::size_t row) {
        return table.rows[row]
            .cells[static_cast<std::size_t>(column - table.columns.begin())]
            .value;
    };
    CHECK(committed(2) == decltype(Cell::value)(5 * 3 * 8766.0));
    CHECK(committed(3) == decltype(Cell::value)());
    CHECK(committed(4) == decltype(Cell::value)(80'000.0));

    answer.others.pop_back();
    answer.bought.reset();
    answer.missing = "the price of a host is not known";
    CHECK(!break_even_picture(answer));
    const Table without = ways_to_pay_table(answer, {});
    CHECK(without.rows.back().heading == "buy whole machines");
    CHECK(without.rows.back().cells.back().value ==
          decltype(Cell::value)("the price of a host is not known"));
}

TEST_CASE("ways to pay: a full node is a row of its own", "[cost]") {
    const CostAnswer answer = rent_or_buy(0);
    FullNode node;
    node.jobs = 2;
    node.limit = NodePart::host_memory;
    node.tokens_per_s = 1000;
    node.of_alone = 0.8;
    node.paid = paid("2 jobs on a node", OfferKind::rented, 4.5);
    node.paid->run.usd_per_million_tokens.value = 0.5;
    CHECK(ways_to_pay_table(answer, node).rows.back().heading == "2 such jobs on a node, each");
    CHECK(ways_to_pay_words(answer, node).back() ==
          "2 such jobs run side by side on a node, each with 1,000 tokens/s (80% of one alone), "
          "for $0.50 a million tokens; host memory allows no more.");
}

#include "sim/specs/scenario/price.h"

#include "sim/answers/cost/cost.h"
#include "sim/answers/cost/run_limits.h"
#include "sim/base/input_error.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

Quantity quantity(const char* path, double value) {
    Quantity q;
    q.path = path;
    q.value = value;
    q.method = Method::datasheet;
    q.source = "a page";
    q.date = "2026-01-02";
    return q;
}

MachineProfile profile_with_prices() {
    MachineProfile profile;
    profile.id = "a-machine";
    profile.quantities = {quantity("price.rent_usd_per_gpu_hour.Dear Cloud", 8),
                          quantity("price.rent_usd_per_gpu_hour.Cheap spot", 1),
                          quantity("price.rent_usd_per_gpu_hour.Middle", 4),
                          quantity("price.rent_usd_per_gpu_hour.Low", 2),
                          quantity("price.rent_usd_per_gpu_hour.Lower middle", 3),
                          quantity("price.ownership_usd_per_gpu_hour.owner", 1.5),
                          quantity("price.system_usd", 80'000),
                          quantity("price.system_gpus", 8)};
    profile.quantities[1].spot = true;
    return profile;
}

/// 1,000 tokens in a second, between 0.5 and 2.
Prediction thousand_tokens_a_second() {
    Prediction report;
    report.asked.machine_id = "a-machine";
    report.asked.training.batch = 1;
    report.asked.training.sequence = 1000;
    report.step.seconds = 1;
    report.band = {0.5, 2};
    report.asked.active_parameters = 1'000'000'000;
    return report;
}

}  // namespace

TEST_CASE("price: offers by kind and price, and the median of those rented", "[cost]") {
    const PriceList prices = price_list(profile_with_prices());
    std::vector<std::string> names;
    for (const Offer& offer : prices.offers) names.push_back(offer.name);
    CHECK(names == std::vector<std::string>{"Low", "Lower middle", "Middle", "Dear Cloud",
                                            "Cheap spot", "owner"});
    CHECK(typical_rent(prices, {})->name == "Lower middle");  // of four the cheaper middle one
    CHECK(prices.systems.front().usd == 80'000);
    CHECK(prices.systems.front().gpus == 8);
    CHECK(rents(prices).size() == 4);
    CHECK(rents(prices).front().usd_per_hour == 2);
    CHECK(rents(prices).back().usd_per_hour == 8);
    CHECK(!typical_rent(price_list({}), {}));
}

TEST_CASE("price: an offer of a GPU of another size is not this one's", "[cost]") {
    MachineProfile profile;
    profile.quantities = {quantity("gpu.memory_capacity_gb", 85.1),
                          quantity("price.rent_usd_per_gpu_hour.A (40 GB SXM)", 1),
                          quantity("price.rent_usd_per_gpu_hour.B (80GB)", 2),
                          quantity("price.rent_usd_per_gpu_hour.GB Cloud", 3)};
    profile.quantities[1].gpu_memory_gb = 40;
    profile.quantities[2].gpu_memory_gb = 80;
    const PriceList prices = price_list(profile);
    REQUIRE(prices.offers.size() == 2);
    CHECK(prices.offers.front().name == "B (80GB)");
}

TEST_CASE("price: an offer by its name", "[cost]") {
    const PriceList prices = price_list(profile_with_prices());
    CHECK(find_offer(prices, "dear", "a-machine").usd_per_hour == 8);
    CHECK(find_offer(prices, "low", "a-machine").name == "Low");  // whole, although two begin so
    CHECK_THROWS_WITH(find_offer(prices, "Middel", "a-machine"),
                      ContainsSubstring("--offer is \"Middel\", expected one of a-machine: Low") &&
                          ContainsSubstring("did you mean \"Middle\"?"));
    CHECK_THROWS_WITH(find_offer({}, "x", "a-machine"), ContainsSubstring("give --usd-per-hour"));
}

TEST_CASE("price: an owner's hour is the price over the hours that train", "[cost]") {
    OwnerTerms terms;
    terms.years = 4;
    terms.utilization = 0.5;
    terms.interest = 0;
    // 87,660 USD over 4 x 8,766 x 0.5 hours = 5 USD.
    CHECK(ownership_usd_per_hour(87'660, terms) == Approx(5));
    terms.residual_share = 0.2;
    CHECK(ownership_usd_per_hour(87'660, terms) == Approx(4));
}

TEST_CASE("price: an owner pays interest", "[cost]") {
    OwnerTerms terms;
    terms.years = 2;
    terms.utilization = 1;
    terms.interest = 0.1;
    // Paid hour by hour, x a year is worth x (1 - 1 / 1.21) / ln(1.1) = 1.82093 x now: 10,000 =
    // that, so x = 5,491.68 a year.
    CHECK(ownership_usd_per_hour(10'000, terms) == Approx(5491.68 / 8766));
    // 2,100 at the end are worth 1,735.54 now: x = 8,264.46 / 1.82093.
    terms.residual_share = 0.21;
    CHECK(ownership_usd_per_hour(10'000, terms) == Approx(4538.58 / 8766));
    // A rent of that much costs as much over the same hours, and the purchase breaks even then.
    terms.residual_share = 0;
    const double rent = ownership_usd_per_hour(10'000, terms);
    CHECK(break_even(rent, 0, 10'000, terms)->months == Approx(24));
    CHECK(cost_today(rent, 24, terms) == Approx(10'000));
}

TEST_CASE("run cost: by hand", "[cost]") {
    Payment payment;
    payment.usd_per_hour = 3.6;
    // 3.6 USD an hour are 0.001 a second, in which it trains 1,000 tokens: 1 USD a million.
    const RunCost cost = run_cost(thousand_tokens_a_second(), payment, 1e9, std::nullopt, {});
    CHECK(cost.usd_per_million_tokens.value == Approx(1));
    CHECK(cost.usd_per_million_tokens.low == Approx(0.5));
    CHECK(cost.usd_per_million_tokens.high == Approx(2));
    CHECK(cost.usd.value == Approx(1000));
    CHECK(cost.days.value == Approx(1e6 / 86400));
    CHECK(!cost.kwh);
}

TEST_CASE("run cost: an owner pays the electricity, a tenant does not", "[cost]") {
    StepEnergy energy;
    energy.idle = 200;
    energy.host = 800;  // 1,000 J a step of a second: 1 kW
    OwnerTerms terms;
    terms.electricity_usd_per_kwh = 0.2;
    terms.power_usage_effectiveness = 1.5;
    Payment payment;
    payment.usd_per_hour = 1;
    const Prediction report = thousand_tokens_a_second();
    CHECK(run_cost(report, payment, 1e6, energy, terms).usd_per_hour == Approx(1));
    payment.ownership = Ownership::own;
    const RunCost cost = run_cost(report, payment, 3.6e6, energy, terms);
    CHECK(cost.usd_per_hour == Approx(1.3));
    CHECK(cost.kwh->value == Approx(1));  // 3.6 M tokens are an hour
    CHECK(*cost.tokens_per_joule == Approx(1));
    CHECK(*cost.tflops_per_kw == Approx(6));  // 6 x 1e9 x 1,000 tokens/s
}

TEST_CASE("run cost: kWh from the least of a fast step to the most of a slow one", "[cost]") {
    StepEnergy energy;
    energy.busy = 1000;
    energy.least = 400;
    energy.scope = EnergyScope::ceiling;
    // A step of a second has 1,000 tokens: 3.6 M are an hour, half or twice of it by the band.
    const RunCost run = run_cost(thousand_tokens_a_second(), Payment(), 3.6e6, energy, {});
    CHECK(run.kwh->value == Approx(1));
    CHECK(run.kwh->low == Approx(0.2));
    CHECK(run.kwh->high == Approx(2));
    // Dollars and days are of the centre, too.
    CHECK(format_kwh(run) == "1 kWh at full power (spread of time and power: 0.2 to 2)");
    energy.scope = EnergyScope::gpu_alone;
    const auto words = [&] {
        return format_kwh(run_cost(thousand_tokens_a_second(), Payment(), 3.6e6, energy, {}));
    };
    CHECK(words() == "1 kWh without the host (spread of time and power: 0.2 to 2)");
    energy.scope = EnergyScope::whole;
    energy.least = energy.total();
    CHECK(words() == "1 kWh (5 to 95%: 0.5 to 2)");
}

TEST_CASE("run cost: twice the tokens cost and take twice as much", "[cost]") {
    StepEnergy energy;
    energy.busy = 500;
    Payment payment;
    payment.usd_per_hour = 2;
    const Prediction report = thousand_tokens_a_second();
    for (const double tokens : {1.0, 1e6, 3e12}) {
        const RunCost once = run_cost(report, payment, tokens, energy, {}),
                      twice = run_cost(report, payment, 2 * tokens, energy, {});
        CHECK(twice.usd.value == Approx(2 * once.usd.value));
        CHECK(twice.usd.high == Approx(2 * once.usd.high));
        CHECK(twice.days.value == Approx(2 * once.days.value));
        CHECK(twice.kwh->value == Approx(2 * once.kwh->value));
        CHECK(twice.usd_per_million_tokens.value == Approx(once.usd_per_million_tokens.value));
    }
}

TEST_CASE("cost query: which payment is taken", "[cost]") {
    const MachineProfile profile = profile_with_prices();
    const MachineMoney money{price_list(profile), {}};
    const Prediction report = thousand_tokens_a_second();
    CostQuery query;
    CHECK(payment_of(money, query, report)->name == "Lower middle");
    query.gpus_paid = 8;
    CHECK(payment_of(money, query, report)->usd_per_hour == Approx(24));
    query.gpus_paid.reset();
    query.ownership = Ownership::buy;
    // A system of 8 GPUs is bought whole: 80,000 x 0.238333 a year over 0.8 x 8,766 hours.
    CHECK(payment_of(money, query, report)->usd_per_hour == Approx(2.71886).epsilon(1e-4));
    query.ownership.reset();
    query.usd_per_hour = 7;
    CHECK(payment_of(money, query, report)->usd_per_hour == 7);
    CHECK(!payment_of({}, {}, report));
    CostQuery to_buy;
    to_buy.ownership = Ownership::buy;
    CHECK(!payment_of({}, to_buy, report));
}

TEST_CASE("cost query: GPUs that train together are all paid", "[cost]") {
    const MachineMoney money{price_list(profile_with_prices()), {}};
    Prediction report = thousand_tokens_a_second();
    report.share = {.gpus = 4, .node_gpus = 4};
    CHECK(payment_of(money, {}, report)->usd_per_hour == Approx(12));
    CostQuery to_buy;
    to_buy.ownership = Ownership::buy;
    CHECK(payment_of(money, to_buy, report)->price_usd == Approx(80'000));  // one system
    report.share = {.gpus = 16, .node_gpus = 8};
    CHECK(!payment_of(money, to_buy, report));  // the network of two nodes has no known price
    CHECK(purchase(money.prices, to_buy, report.share).usd == Approx(160'000));
}

TEST_CASE("cost query: an owned machine costs its electricity, with all its GPUs", "[cost]") {
    MachineMoney money{price_list(profile_with_prices()), {}};
    Prediction report = thousand_tokens_a_second();
    report.share = {.gpus = 1, .node_gpus = 8};
    CostQuery query;
    query.ownership = Ownership::own;
    CHECK(!payment_of(money, query, report));  // its power is not known
    money.power.busy_w = 1000;
    money.power.idle_w = 100;
    const std::optional<Payment> own = payment_of(money, query, report);
    REQUIRE(own);
    CHECK(own->usd_per_hour == 0);
    CHECK(own->price_usd == 0);
    CHECK(own->pays_electricity());
    CHECK(own->paid->gpus == 8);
    CHECK(paid_words(*own->paid) == "pays the electricity of all 8 GPUs of the machine");
    query.gpus_paid = 2;  // that it has
    CHECK(payment_of(money, query, report)->paid->gpus == 2);
    query.ownership = Ownership::rent;
    CHECK(!payment_of({}, query, report));
    report.share.gpus = 4;
    for (const Ownership ownership : {Ownership::own, Ownership::rent, Ownership::buy}) {
        query.ownership = ownership;
        CHECK_THROWS_WITH(payment_of(money, query, report),
                          "--gpus-paid is 2, expected at least 4, the GPUs that train; give more, "
                          "or train on fewer with --gpus");
    }
}

TEST_CASE("cost query: GPUs paid are those of a machine at a given price", "[cost]") {
    Prediction report = thousand_tokens_a_second();
    report.share = {.gpus = 1, .node_gpus = 8};
    CostQuery query;
    query.price_usd = 40'000;
    CHECK(payment_of({}, query, report)->paid->gpus == 8);
    query.gpus_paid = 1;
    const std::optional<Payment> one = payment_of({}, query, report);
    CHECK(one->paid->gpus == 1);
    CHECK(paid_words(*one->paid) == "pays for the whole machine");
}

TEST_CASE("run limits: a purchase meets a budget with its whole price", "[cost]") {
    // $4,699 buy the machine, of which an hour's part is $1: a run of an hour costs $1.
    Payment payment;
    payment.ownership = Ownership::buy;
    payment.price_usd = 4699;
    payment.usd_per_hour = 1;
    StepEnergy energy;
    energy.idle = 1000;  // 1 kW
    OwnerTerms terms;
    terms.electricity_usd_per_kwh = 0.2;
    terms.power_usage_effectiveness = 1;
    const RunCost run = run_cost(thousand_tokens_a_second(), payment, 3.6e6, energy, terms);
    CHECK(run.usd.value == Approx(1.2));
    CHECK(run.spent.value == Approx(4699.2));
    const RunLimits three{.days = {}, .usd = 3};
    CHECK(!meets(three, run, true));
    CHECK(limit_warnings(three, run, true) ==
          std::vector<std::string>{"It costs $4,696 more than the budget, since $4,699 are paid at "
                                   "once, of which this run's part is $1.20."});
    const RunLimits enough{.days = {}, .usd = 4700};
    CHECK(meets(enough, run, true));
    // A dollar is left for electricity: 5 hours.
    CHECK(tokens_within(enough, run, true) == Approx(5 * 3.6e6));
    CHECK(tokens_within(three, run, true) == 0);
    // No more than the hours in which it trains: five years, 80% of them.
    const double of_years = 5 * 8766 * 0.8 * 3.6e6;
    const RunLimits rich{.days = {}, .usd = 1e9};
    CHECK(tokens_within(rich, run, true) == Approx(of_years));
    CHECK(tokens_within({.days = 1, .usd = 1e9}, run, true) == Approx(86.4e6));
    // The power, and with it the price of an hour, is not known.
    const RunCost unknown =
        run_cost(thousand_tokens_a_second(), payment, 3.6e6, std::nullopt, terms);
    CHECK(tokens_within(rich, unknown, true) == Approx(of_years));
    payment.ownership = Ownership::own;
    payment.price_usd = 0;
    const RunCost own = run_cost(thousand_tokens_a_second(), payment, 3.6e6, energy, terms);
    CHECK(tokens_within(rich, own, true) == Approx(of_years));
    const RunCost longer = run_of_tokens(run, 2 * 3.6e6);
    CHECK(longer.usd.value == Approx(2.4));
    CHECK(longer.spent.value == Approx(4699.4));
    CHECK(longer.spent.high == Approx(4699.8));
}

TEST_CASE("run limits: the tokens that a deadline and a budget allow", "[cost]") {
    Payment rent;
    rent.usd_per_hour = 3.6;  // $1 a million tokens
    const RunCost run = run_cost(thousand_tokens_a_second(), rent, 1e9, std::nullopt, {});
    CHECK(run.spent.value == run.usd.value);
    CHECK(tokens_within({.days = 1, .usd = {}}, run, true) == Approx(86.4e6));
    CHECK(tokens_within({.days = 1, .usd = 50}, run, true) == Approx(50e6));
    CHECK(tokens_within({.days = 1, .usd = 500}, run, true) == Approx(86.4e6));
    CHECK(tokens_within({.days = 1, .usd = 500}, run, false) == 0);
    CHECK(std::isinf(tokens_within({}, run, false)));
}

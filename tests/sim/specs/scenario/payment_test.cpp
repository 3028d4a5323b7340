#include "sim/specs/scenario/payment.h"

#include "sim/specs/scenario/purchase.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

Offer offer(double usd, double rented_gpus = 1) {
    Offer out;
    out.name = "Cloud";
    out.usd_per_hour = usd;
    out.rented_gpus = rented_gpus;
    out.date = "2026-01-02";
    return out;
}

std::string words(const NodeShare& share, double rented_gpus = 1) {
    return paid_words(gpus_to_pay(share, rented_gpus));
}

}  // namespace

TEST_CASE("payment: a plan pays for the largest share of its node", "[cost]") {
    // An eighth of the node's memory is one GPU's; all of it leaves nothing for others.
    CHECK(rented(offer(3), {1, 8, 0.125}).usd_per_hour == Approx(3));
    CHECK(words({1, 8, 0.125}) == "pays for 1 of 8 GPUs");
    CHECK(rented(offer(3), {1, 8, 0.13}).usd_per_hour == Approx(6));
    CHECK(words({1, 8, 0.13}) == "pays for 2 of 8 GPUs: host memory");
    CHECK(rented(offer(2.95), {1, 8, 2.85 / 3.07}).usd_per_hour == Approx(23.6));
    CHECK(rented(offer(3), {1, 8, 1}).usd_per_hour == Approx(24));
    CHECK(rented(offer(3), {1, 8, 1.4}).usd_per_hour == Approx(24));  // does not fit
    CHECK(words({1, 8, 0.2, 0.3, 0.1}) == "pays for 3 of 8 GPUs: cores");
    CHECK(words({1, 8, 0.2, 0.1, 0.5}) == "pays for 4 of 8 GPUs: host memory bandwidth");
    CHECK(words({4, 8, 0.2}) == "pays for 4 of 8 GPUs");
    CHECK(rented(offer(3), {1, 8, 0.1}, 8).usd_per_hour == Approx(24));
    CHECK(paid_words(*rented(offer(3), {1, 8, 0.1}, 8).paid) == "pays for 8 GPUs, as given");
}

TEST_CASE("payment: GPUs of several nodes", "[cost]") {
    CHECK(gpus_to_pay({16, 8, 0.1}, 1).gpus == 16);
    CHECK(gpus_to_pay({12, 8, 0.1}, 1).gpus == 12);  // 6 of each node
    CHECK(gpus_to_pay({12, 8, 1}, 1).gpus == 16);
}

TEST_CASE("payment: an offer may rent whole nodes only", "[cost]") {
    CHECK(rented(offer(4.975, 8), {1, 8, 0.42}).usd_per_hour == Approx(39.8));
    CHECK(words({1, 8, 0.42}, 8) ==
          "pays for 8 of 8 GPUs, the least that this offer rents; the plan needs the host memory "
          "of 4");
    // Four GPUs of two superchips.
    CHECK(words({1, 2, 0.4}, 4) ==
          "pays for 4 of 4 GPUs, the least that this offer rents; the plan needs 1");
}

TEST_CASE("payment: a rent holds for as many GPUs as its provider connects", "[cost]") {
    Offer single = offer(1), cluster = offer(4);
    single.name = "Single";
    cluster.most_gpus = 512;
    PriceList prices;
    prices.offers = {single, cluster};
    for (Offer& one : prices.offers) one.kind = OfferKind::rented;
    // Within a node both hold, and the cheaper of two is the typical one: 8 x 1 USD.
    CHECK(typical_rent(prices, {8, 8, 0.1})->usd_per_hour == Approx(8));
    // Over two nodes only the second holds: 16 x 4 USD.
    CHECK(typical_rent(prices, {16, 8, 0.1})->usd_per_hour == Approx(64));
    CHECK_THAT(typical_rent(prices, {16, 8, 0.1})->origin,
               ContainsSubstring("1 other offer does not connect 16 GPUs"));
    CHECK(holding_rents(prices, {1024, 8, 0.1}).too_small == 2);
    CHECK(!typical_rent(prices, {1024, 8, 0.1}));
    CHECK(no_rent_holds(prices, {1024, 8, 0.1}) == "none of the 2 known rents connects 1024 GPUs");
    CHECK(no_rent_holds(prices, {16, 8, 0.1}).empty());
    // An instance of one GPU does not hold for a plan that takes the host memory of two.
    single.most_gpus = 1;
    CHECK(holds(single, {1, 8, 0.125}));
    CHECK(!holds(single, {1, 8, 0.13}));
    // A machine whose node is not known has no such limit.
    CHECK(holds(offer(1), {16, 0, 0.1}));
    // A tray of four GPUs with two hosts is rented as one.
    CHECK(holds(offer(1, 4), {4, 2, 0.1}));
    CHECK(!holds(offer(1, 4), {8, 2, 0.1}));
}

TEST_CASE("payment: the typical rent is the median of what the plan pays", "[cost]") {
    PriceList prices;
    prices.offers = {offer(2), offer(4, 8), offer(5)};
    for (Offer& one : prices.offers) one.kind = OfferKind::rented;
    // Two GPUs: 4, 32 and 10 USD. Eight GPUs: 16, 32 and 40.
    CHECK(typical_rent(prices, {1, 8, 0.2})->usd_per_hour == Approx(10));
    CHECK(typical_rent(prices, {8, 8, 0.2})->usd_per_hour == Approx(32));
    CHECK_THAT(typical_rent(prices, {1, 8, 0.2})->origin,
               ContainsSubstring("the median of 3 rents from $2.00 to $5.00 a GPU"));
}

TEST_CASE("payment: a machine that is its own node pays for itself", "[cost]") {
    CHECK(rented(offer(2.29), {1, 1, 0.9, 0.2, 1}).usd_per_hour == Approx(2.29));
    CHECK(words({1, 1, 0.9}) == "pays for the whole machine");
}

TEST_CASE("payment: an unknown node is asked for", "[cost]") {
    CHECK(rented(offer(3), {2, 0, 0.9}).usd_per_hour == Approx(6));
    CHECK(words({2, 0, 0.9}) ==
          "pays for 2 GPUs; how many share a host is not known: give --set host.gpus=NUMBER");
}

TEST_CASE("payment: hours on a long contract pay for the same share", "[cost]") {
    Offer reserved = offer(1.6);
    reserved.kind = OfferKind::reserved;
    CHECK(rented(reserved, {1, 8, 0.125}).usd_per_hour == Approx(1.6));
    CHECK(rented(reserved, {1, 8, 0.42}).usd_per_hour == Approx(6.4));
    CHECK(rented(reserved, {1, 8, 1}).usd_per_hour == Approx(12.8));
    CHECK(rented(reserved, {1, 8, 0.42}).origin == "reserved, 2026-01-02");
}

TEST_CASE("purchase: nodes with their GPUs are bought whole", "[cost]") {
    PriceList prices;
    prices.gpu_usd = 30'000;
    prices.memory_gb = 2048;
    CostQuery query;
    const NodeShare share{1, 8, 0.42};
    CHECK(purchase(prices, query, share).missing.find("--node-usd") != std::string::npos);
    query.node_usd = 60'000;
    CHECK(purchase(prices, query, share).missing.empty());
    CHECK(purchase(prices, query, share).usd == Approx(300'000));
    // Two nodes need a network, whose price is asked for.
    CHECK(purchase(prices, query, {16, 8, 0.42}).usd == Approx(600'000));
    CHECK(purchase(prices, query, {16, 8, 0.42}).missing.find("network between 2 nodes") !=
          std::string::npos);
    const Payment payment = bought(purchase(prices, query, share), share, {});
    CHECK(paid_words(*payment.paid) ==
          "pays for 8 of 8 GPUs, since a machine is bought whole; the plan needs the host memory "
          "of 4");
    query.price_usd = 250'000;
    CHECK(purchase(prices, query, share).usd == Approx(250'000));
    CHECK_THAT(purchase({}, {}, share).missing, ContainsSubstring("--price-usd"));
}

TEST_CASE("purchase: host memory beyond a system's is bought in sizes that there are", "[cost]") {
    for (const auto& [gb, size] : {std::pair(2850.0, 3072.0),
                                   {1500, 1536},
                                   {1537, 2048},
                                   {512, 512},
                                   {480, 512},
                                   {33, 48},
                                   {10, 32}})
        CHECK(orderable_memory_gb(gb) == size);
    PriceList prices;
    prices.systems = {{.usd = 80'000, .gpus = 8, .memory_gb = 2048, .source = "a shop"}};
    prices.memory_gb = 3072;
    CostQuery query;
    CHECK(purchase(prices, query, {1, 8}).missing.find("1024 GB") != std::string::npos);
    query.memory_usd_per_gb = 10;
    CHECK(purchase(prices, query, {1, 8}).usd == Approx(90'240));
    // The price says which option has no effect. With the price of a GPU, that of the node has one.
    query.node_usd = 5'000;
    CHECK(purchase(prices, query, {1, 8}).origin.find("--node-usd has no effect") !=
          std::string::npos);
    const auto says_no_effect = [&] {
        return purchase(prices, query, {1, 8}).origin.find("--gpus-paid has no effect") !=
               std::string::npos;
    };
    query.gpus_paid = 8;  // as in the system
    CHECK(!says_no_effect());
    query.gpus_paid = 2;
    CHECK(says_no_effect());
    query.gpus_paid.reset();
    prices.gpu_usd = 9'000;
    CHECK(purchase(prices, query, {1, 8}).usd == Approx(77'000));
}

TEST_CASE("purchase: when it has cost no more than a rent", "[cost]") {
    OwnerTerms terms;
    terms.utilization = 1;
    terms.interest = 0;
    // 1.5 USD are saved in each of 8,766 hours a year.
    CHECK(break_even(2, 0.5, 13'149, terms)->months == Approx(12));
    CHECK(break_even(2, 0.5, 13'149, terms)->hours == Approx(8766));
    terms.utilization = 0.5;
    CHECK(break_even(2, 0.5, 13'149, terms)->months == Approx(24));
    CHECK(break_even(2, 0.5, 13'149, terms)->hours == Approx(8766));
    terms.utilization = 1;
    terms.interest = 0.1;
    // 13,149 x (1 - 1 / 1.1) / 0.0953102 = 12,541.8.
    CHECK(break_even(2, 0.5, 12'541.8, terms)->months == Approx(12).epsilon(1e-4));
    CHECK(!break_even(2, 0.5, 1e6, terms));
    CHECK(!break_even(0.5, 0.5, 1, terms));
}

#include "sim/answers/cost/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/input_error.h"
#include "sim/simulate/node_share.h"

namespace sluice {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;

/// `of_step` for each of the step's three times.
template <typename OfStep>
Banded banded(const Prediction& report, OfStep of_step) {
    Banded out;
    out.value = of_step(report.step.seconds);
    if (report.band) {
        out.low = of_step(report.band->low);
        out.high = of_step(report.band->high);
    }
    return out;
}

double gpus_of(const Prediction& report) { return static_cast<double>(report.asked.training.gpus); }

double gpus_paid(const Prediction& report, const std::optional<PaidGpus>& paid) {
    return paid ? paid->gpus : report.share.gpus_needed();
}

void add_others(CostAnswer& answer, const Prediction& report, const MachineSpec& machine,
                const MachineMoney& money, const CostQuery& query) {
    const auto add = [&](Payment payment) {
        if (answer.payment && payment.inputs == answer.payment->inputs) return;
        answer.others.push_back(paid_run(report, machine, money, query, std::move(payment)));
    };
    for (const Offer& offer : money.prices.offers)
        if (holds(offer, report.share, query.gpus_paid))
            add(rented(offer, report.share, query.gpus_paid));
    const Purchase all = purchase(money.prices, query, report.share);
    if (all.missing.empty()) add(bought(all, report.share, query.terms));
    answer.missing = all.missing;
}

/// The ways to rent and to buy, each as in the payment or else the first of the others.
void compare_ways(CostAnswer& answer, const Prediction& report, const MachineSpec& machine,
                  const MachineMoney& money, const CostQuery& query) {
    std::vector<PaidRun> all = answer.others;
    if (answer.payment) all.insert(all.begin(), {*answer.payment, answer.run});
    const auto is_rent = [](const PaidRun& one) { return !one.payment.pays_electricity(); };
    const auto bought = std::ranges::find_if(
        all, [](const PaidRun& one) { return one.payment.ownership == Ownership::buy; });
    std::optional<PaidRun>& rent = answer.rent;
    if (answer.payment && is_rent(all.front()))
        rent = all.front();
    else if (auto typical = typical_rent(money.prices, report.share, query.gpus_paid))
        rent = paid_run(report, machine, money, query, *std::move(typical));
    if (!rent) return;
    answer.rents = {rent->run.usd_per_million_tokens.value};
    for (const Offer* offer : holding_rents(money.prices, report.share, query.gpus_paid).offers) {
        const double usd = run_cost(report, rented(*offer, report.share, query.gpus_paid),
                                    query.tokens, std::nullopt, query.terms)
                               .usd_per_million_tokens.value;
        Banded& rents = *answer.rents;
        rents.low = rents.high == 0 ? usd : std::min(rents.low, usd);
        rents.high = std::max(rents.high, usd);
    }
    if (bought == all.end()) return;
    answer.bought = *bought;
    answer.break_even =
        break_even(rent->run.usd_per_hour, bought->run.usd_per_hour - bought->payment.usd_per_hour,
                   bought->payment.price_usd, query.terms);
}

/// The owned machine has the host memory and the GPUs that it has, whatever a node is sold with.
NodeShare share_of_owned(const Prediction& r, MachineSpec machine,
                         const std::optional<Payment>& payment) {
    NodeShare out = r.share;
    if (payment && payment->paid && out.nodes() == 1) out.node_gpus = payment->paid->gpus;
    machine.host.node_memory = machine.host.memory_capacity;
    out.host_memory =
        memory_share(r.plan.fit.host().peak.bytes, r.asked.training, machine).host_memory;
    return out;
}

/// Why the plan pays for that part of its node; what it leaves free of an owned machine.
void say_what_is_paid_for(CostAnswer& answer, const Prediction& r, const MachineSpec& machine,
                          bool owned) {
    const NodeShare share = owned ? share_of_owned(r, machine, answer.payment) : r.share;
    if (share.node_gpus == 0) {
        if (!owned)
            answer.assumptions.push_back(fmt::format(
                "how many GPUs share the host is not known, so only the GPUs are paid for, "
                "although the step uses {} of host memory; give --set host.gpus=NUMBER",
                format_bytes(static_cast<double>(r.plan.fit.host().peak.bytes))));
        return;
    }
    if (share.node_gpus == 1) return;
    std::string shares;
    for (const NodePart part :
         {NodePart::gpus, NodePart::host_memory, NodePart::cores, NodePart::host_bandwidth})
        shares += fmt::format("{}{} of its {}", shares.empty() ? "" : ", ",
                              format_percent(share.share_of(part)), node_part_name(part));
    const Bytes memory = owned ? machine.host.memory_capacity : machine.host.node_memory;
    answer.assumptions.push_back(
        fmt::format("{} has {:g} GPUs and {} of host memory, of which the plan takes {}",
                    owned ? "your machine" : "a node", share.node_gpus,
                    format_bytes(static_cast<double>(memory)), shares));
    if (!owned)
        answer.assumptions.emplace_back(
            "a rent pays for the largest of these shares, in whole GPUs, or for what --gpus-paid "
            "gives");
}

/// Counts the power of all GPUs that are paid for; each has its part of the host's power.
void say_what_power_is_counted(CostAnswer& answer, double train, double paid,
                               const PowerSpec& power) {
    answer.assumptions.insert(answer.assumptions.end(), power.assumptions.begin(),
                              power.assumptions.end());
    answer.assumptions.emplace_back(
        power.calibrated
            ? "six kinds of steps on a calibrated H200 took 0.6 to 2.8% more or less energy than "
              "predicted so"
            : "no step's energy was measured on this machine");
    if (paid > train)
        answer.assumptions.push_back(
            fmt::format("{:g} {} idle power", paid - train,
                        paid - train == 1 ? "GPU that is paid for and does not train draws"
                                          : "GPUs that are paid for and do not train draw"));
    if (power.host_assumption.empty()) return;
    const double each = power.host_w.value_or(0);
    answer.assumptions.push_back(
        paid == 1 || each == 0
            ? power.host_assumption
            : fmt::format("{}; counted for each of the {:g} GPUs, {:.0f} W in all",
                          power.host_assumption, paid, paid * each));
}

}  // namespace

std::optional<double> PaidRun::committed_usd() const {
    if (payment.kind == OfferKind::estimate) return std::nullopt;
    return run.spent.value;
}

RunCost run_cost(const Prediction& report, const Payment& payment, double tokens,
                 const std::optional<StepEnergy>& energy, const OwnerTerms& terms) {
    RunCost cost;
    cost.tokens = tokens;
    cost.usd_per_hour = payment.usd_per_hour;
    const bool for_years = payment.kind == OfferKind::reserved;
    cost.usd_at_once = for_years
                           ? payment.jobs * payment.usd_per_hour * kReservedYears * kHoursOfAYear
                           : payment.price_usd;
    if (payment.pays_electricity())
        cost.most_hours = terms.years * kHoursOfAYear * terms.utilization;
    else if (for_years)
        cost.most_hours = kReservedYears * kHoursOfAYear;
    cost.tokens_per_s = report.tokens_per_s();
    if (energy) {
        const double watts = energy->total() / report.step.seconds;
        cost.mean_w = watts;
        cost.tokens_per_joule = report.tokens_per_s() / watts;
        cost.tflops_per_kw = report.model_flops_per_s() / kTera / (watts / kKilo);
        if (payment.pays_electricity())
            cost.usd_per_hour +=
                watts / kKilo * terms.power_usage_effectiveness * terms.electricity_usd_per_kwh;
    }
    // A slower step takes proportionally more energy: power is assumed to be the same.
    const auto seconds = [&](Seconds step) { return tokens / report.tokens_per_s_at(step); };
    cost.days = banded(report, [&](Seconds step) { return seconds(step) / kDay; });
    cost.usd =
        banded(report, [&](Seconds step) { return seconds(step) / kHour * cost.usd_per_hour; });
    cost.usd_per_million_tokens = banded(report, [&](Seconds step) {
        return kMega / report.tokens_per_s_at(step) / kHour * cost.usd_per_hour;
    });
    // Beside what is paid at once: the rent, or the owner's electricity.
    const double then = for_years               ? 0
                        : payment.price_usd > 0 ? cost.usd_per_hour - payment.usd_per_hour
                                                : cost.usd_per_hour;
    cost.usd_per_hour_after = then;
    cost.spent = banded(
        report, [&](Seconds step) { return cost.usd_at_once + seconds(step) / kHour * then; });
    if (!energy) return cost;
    const auto kwh = [&](Seconds step, double joules) {
        return seconds(step) * joules / report.step.seconds / kJoulesPerKwh;
    };
    cost.kwh = banded(report, [&](Seconds step) { return kwh(step, energy->total()); });
    cost.kwh->low = kwh(report.band ? report.band->low : report.step.seconds, energy->least);
    cost.kwh->high = std::max(cost.kwh->value, cost.kwh->high);
    cost.kwh_scope = energy->scope;
    return cost;
}

std::optional<StepEnergy> energy_of(const Prediction& report, const MachineSpec& machine,
                                    const PowerSpec& power, double gpus_paid) {
    if (!power.known()) return std::nullopt;
    return step_energy(report, machine, power, gpus_paid);
}

MachineMoney machine_money(const MachineProfile& profile, const MachineSpec& machine,
                           const CostQuery& query) {
    MachineMoney money{price_list(profile, query.quotes), power_spec(profile, machine)};
    if (query.host_w && money.power.known()) {
        money.power.host_w = query.host_w;
        money.power.host_given = true;
        money.power.host_is_most = false;
        money.power.host_assumption =
            fmt::format("{:g} W of host power for each GPU, as given", *query.host_w);
    }
    return money;
}

PaidRun paid_run(const Prediction& report, const MachineSpec& machine, const MachineMoney& money,
                 const CostQuery& query, Payment payment) {
    const auto energy = energy_of(report, machine, money.power, gpus_paid(report, payment.paid));
    const RunCost run = run_cost(report, payment, query.tokens, energy, query.terms);
    return {std::move(payment), run};
}

CostAnswer answer_cost(const Prediction& report, const MachineSpec& machine,
                       const MachineMoney& money, const CostQuery& query) {
    CostAnswer answer;
    answer.terms = query.terms;
    answer.limits = query.limits;
    answer.tokens = query.tokens;
    answer.power = money.power;
    answer.payment = payment_of(money, query, report);
    const double paid =
        answer.payment ? gpus_paid(report, answer.payment->paid) : report.share.gpus_needed();
    answer.energy = energy_of(report, machine, money.power, paid);
    answer.run = run_cost(report, answer.payment.value_or(Payment()), query.tokens, answer.energy,
                          query.terms);
    if (!answer.payment)
        answer.no_rent = no_rent_holds(money.prices, report.share, query.gpus_paid);
    const bool quoted = money.prices.systems_quoted ||
                        std::ranges::any_of(money.prices.offers, [](const Offer& offer) {
                            return offer.kind == OfferKind::quoted;
                        });
    if (!query.quotes.empty() && !quoted && answer.payment && !answer.payment->given)
        answer.assumptions.emplace_back(
            "none of the quotes is for this machine and its host memory, so listed prices count");
    add_others(answer, report, machine, money, query);
    compare_ways(answer, report, machine, money, query);
    const bool any_price = answer.payment || !answer.others.empty();
    if (answer.payment && !answer.payment->unpriced.empty())
        answer.assumptions.push_back(answer.payment->unpriced);
    if (any_price) say_what_is_paid_for(answer, report, machine, query.owns());
    if (answer.payment && (answer.payment->ownership == Ownership::buy || answer.can_break_even()))
        answer.assumptions.push_back(fmt::format(
            "bought: whole machines for {:g} years at {} interest, {} of the price back at the "
            "end, which train {} of the hours; {:g} USD a kWh, {:g} times the machine's power",
            query.terms.years, format_percent(query.terms.interest),
            format_percent(query.terms.residual_share), format_percent(query.terms.utilization),
            query.terms.electricity_usd_per_kwh, query.terms.power_usage_effectiveness));
    if (answer.energy) say_what_power_is_counted(answer, gpus_of(report), paid, money.power);
    return answer;
}

}  // namespace sluice

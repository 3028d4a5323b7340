#include "planner-gui/window/start_words.h"

#include "planner-gui/pictures/answer_words.h"
#include "sim/report/answers/findings.h"
#include "sim/report/report.h"
#include "sim/specs/machine/default_host.h"

namespace sluice {

QStringList start_warnings(const StartQuestion& question, const StartCandidate& one) {
    QStringList out;
    const RunCost& run = one.run;
    if (question.days && run.days.value > *question.days)
        out << QObject::tr("It ends %1 days after the deadline.")
                   .arg(run.days.value - *question.days, 0, 'g', 3);
    else if (question.days && run.days.high > *question.days)
        out << QObject::tr(
                   "If it is as slow as 5% of such predictions are, it takes %1 days, which "
                   "is too long.")
                   .arg(run.days.high, 0, 'g', 3);
    if (question.usd && run.usd.value > *question.usd)
        out << QObject::tr("It costs %1 more than the budget.")
                   .arg(qtext(format_usd(run.usd.value - *question.usd)));
    else if (question.usd && run.usd.high > *question.usd)
        out << QObject::tr(
                   "If it is as slow as 5% of such predictions are, it costs %1, which is too "
                   "much.")
                   .arg(qtext(format_usd(run.usd.high)));
    const HostMemory host = host_memory_of(one.answer->scenario.profile);
    if (host.assumed && one.gpus() == 1)
        out << QObject::tr("Its %1 of host memory are assumed: ask the provider.")
                   .arg(qtext(format_bytes(host.bytes)));
    return out;
}

QString start_explanation(const StartCandidate& one) {
    const Prediction& r = one.answer->report();
    const BytesByKind& host = r.plan.fit.host.peak.by_kind;
    const bool on_host = host[static_cast<std::size_t>(MemoryKind::optimizer_state)] > 0 ||
                         host[static_cast<std::size_t>(MemoryKind::weights)] > 0;
    const QString memory =
        r.asked.training.schedule->several_gpus
            ? QObject::tr("%1 splits the model and its optimizer states over the GPUs.")
        : on_host ? QObject::tr(
                        "%1 trains on one GPU, and the host's memory holds what the GPU does not.")
                  : QObject::tr("%1 trains on one GPU, whose memory holds everything.");
    const QString step =
        QObject::tr("%1 tokens/s with %2 tokens a step and %3.")
            .arg(qtext(format_thousands(r.tokens_per_s())),
                 qtext(format_thousands(static_cast<double>(r.asked.training.tokens()))),
                 qtext(states_of(r.asked.training)));
    const auto& payment = one.answer->cost.payment;
    const QString paid = one.owned || !payment ? QString()
                                               : QObject::tr(" %1 an hour: %2.")
                                                     .arg(qtext(format_usd(one.run.usd_per_hour)),
                                                          window_text(payment_words(*payment)));
    return memory.arg(qtext(r.asked.runs_today.program)) + QLatin1Char(' ') + step + paid;
}

}  // namespace sluice

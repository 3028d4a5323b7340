#include "planner-gui/window/start_words.h"

#include "planner-gui/pictures/answer_words.h"
#include "sim/report/answers/beside_speed.h"
#include "sim/report/answers/findings.h"
#include "sim/report/report.h"
#include "sim/specs/machine/default_host.h"

namespace sluice {

namespace {

/// Why more GPUs are paid for than train: " for 4 of the 8 GPUs of a node: one trains, ...".
QString paid_for(const Payment& payment, std::int64_t train) {
    if (!payment.paid) return {};
    const PaidGpus& paid = *payment.paid;
    const auto number = [](double gpus) { return QString::number(gpus); };
    if (paid.of <= 1) return QObject::tr(" for the whole machine");
    QString out = QObject::tr(" for %1 of %2 GPUs").arg(number(paid.gpus), number(paid.of));
    if (paid.gpus <= static_cast<double>(train)) return out;
    if (paid.part != NodePart::gpus)
        out += QObject::tr(": %1 trains, but the plan needs the %2 of %3")
                   .arg(number(static_cast<double>(train)), qtext(node_part_name(paid.part)),
                        number(paid.needed));
    else
        out += QObject::tr(": %1 trains").arg(number(static_cast<double>(train)));
    if (paid.gpus > paid.needed) out += QObject::tr(", and this offer rents no fewer");
    return out;
}

/// The precision of the optimizer's state, for a reader who has not met it.
QString precision_of(const TrainingSpec& training) {
    const StateBytes kept = bytes_of_states(training);
    const bool full = kept.master == kFp32 && kept.moment == kFp32;
    return full ? QObject::tr("optimizer state in full precision")
                : QObject::tr("optimizer state in reduced precision (%1)")
                      .arg(qtext(states_of(training)));
}

}  // namespace

QStringList start_warnings(const StartQuestion& question, const StartCandidate& one) {
    QStringList out;
    const RunCost& run = one.run;
    if (question.days && run.days.value > *question.days)
        out << QObject::tr("It ends %1 days after the deadline.")
                   .arg(run.days.value - *question.days, 0, 'g', 3);
    else if (question.days && run.days.high > *question.days)
        out << QObject::tr("One run in 20 may take more than %1 days, which is too long.")
                   .arg(run.days.high, 0, 'g', 3);
    if (question.usd && run.usd.value > *question.usd)
        out << QObject::tr("It costs %1 more than the budget.")
                   .arg(qtext(format_usd(run.usd.value - *question.usd)));
    else if (question.usd && run.usd.high > *question.usd)
        out << QObject::tr("One run in 20 may cost more than %1, which is too much.")
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
                 precision_of(r.asked.training));
    const auto& payment = one.answer->cost.payment;
    const QString paid = one.owned || !payment ? QString()
                                               : QObject::tr(" You pay %1 an hour%2 (%3).")
                                                     .arg(qtext(format_usd(one.run.usd_per_hour)),
                                                          paid_for(*payment, one.gpus()),
                                                          window_text(offer_words(*payment)));
    return memory.arg(qtext(r.asked.runs_today.program)) + QLatin1Char(' ') + step + paid;
}

}  // namespace sluice

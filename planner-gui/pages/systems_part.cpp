#include "planner-gui/pages/systems_part.h"

#include <QPushButton>

#include "planner-gui/models/system_words.h"
#include "planner-gui/pages/adoptable_bars.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pictures/memory_stack.h"
#include "sim/answers/compare/findings.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/compare/comparison_report.h"

namespace sluice {
namespace {

constexpr int kMostSentences = 3;

}  // namespace

SystemsPart::SystemsPart(QWidget* parent)
    : AnswerPage(parent),
      words_(text_label(tr("What the comparison says"))),
      compare_(new QPushButton),
      bars_(new AdoptableBars({tr("Tokens per second of each system"), tr("Systems"),
                               tr("Selected system"),
                               tr("Adopts this system (Enter, double click)")})) {
    compare_->setToolTip(
        tr("Predict this model on this machine with every system, with the same batch"));
    layOut(words_and_buttons(words_, {compare_}), bars_,
           {tr("How fast are other systems?"),
            tr("Compare systems predicts this model on this machine with every system, with the "
               "same batch."),
            tr("The scenario has changed since these systems were compared.")},
           {words_, bars_});
    connect(compare_, &QPushButton::clicked, this, &SystemsPart::compareRequested);
    connect(this, &AnswerPage::runAgain, this, &SystemsPart::compareRequested);
    connect(bars_, &AdoptableBars::adopted, this, &SystemsPart::adoptSystem);
    setBusy(false);
    setComparison(nullptr);
}

void SystemsPart::setComparison(std::shared_ptr<const Comparison> comparison) {
    comparison_ = std::move(comparison);
    showAnswer(comparison_ != nullptr);
    words_->setVisible(comparison_ != nullptr);
    showComparison();
}

void SystemsPart::showBusy() {
    compare_->setEnabled(!isBusy());
    compare_->setText(isBusy() ? tr("Comparing ...") : tr("Compare &systems"));
}

void SystemsPart::setByteUnits(ByteUnits units) {
    units_ = units;
    showComparison();
}

void SystemsPart::showComparison() {
    if (!comparison_) return;
    show_sentences(words_, comparison_sentences(*comparison_), kMostSentences);
    BarChart bars = comparison_bars({comparison_.get(), 1});
    for (BarGroup& group : bars.groups)
        for (std::size_t i = 0; i < group.bars.size(); ++i)
            group.bars[i].misfit = short_text(comparison_->systems[i].report, units_).toStdString();
    std::vector<Adoptable> systems;
    for (const ComparedSystem& system : comparison_->systems)
        systems.push_back({system_sentence(*comparison_, system, units_),
                           !system.report.asked.training.schedule->several_gpus});
    bars_->setThings(std::move(systems), std::move(bars),
                     systems_table({comparison_.get(), 1}, bytes_text(units_)), units_);
}

void SystemsPart::adoptSystem(int at) {
    const ComparedSystem& system = comparison_->systems[static_cast<std::size_t>(at)];
    Q_EMIT adopt(system_settings(system), QString::fromStdString(system.name));
}

QByteArray SystemsPart::svg() const { return comparison_ ? bars_->svg() : QByteArray(); }

QString SystemsPart::csv() const {
    return comparison_ ? QString::fromStdString(comparison_csv({comparison_.get(), 1})) : QString();
}

}  // namespace sluice

#include "planner-gui/pages/bars_page.h"

#include <QCheckBox>
#include <QPushButton>

#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pictures/answer_words.h"
#include "sim/report/answers/answer_reports.h"

namespace sluice {
namespace {

constexpr int kMostSentences = 3;

}  // namespace

BarsAnswer systems_answer(const Comparison& comparison, ByteUnits units) {
    BarsAnswer out;
    out.sentences = comparison_sentences(comparison);
    out.chart = comparison_bars({&comparison, 1});
    for (BarGroup& group : out.chart.groups)
        for (std::size_t i = 0; i < group.bars.size(); ++i)
            group.bars[i].misfit = short_text(comparison.systems[i].report, units).toStdString();
    for (const ComparedSystem& system : comparison.systems)
        out.things.push_back({system_sentence(comparison, system, units),
                              !system.report.asked.training.schedule->several_gpus});
    out.table = systems_table({&comparison, 1}, bytes_text(units));
    out.csv = comparison_csv({&comparison, 1});
    return out;
}

BarsAnswer sensitivity_answer(const Sensitivity& sensitivity) {
    BarsAnswer out;
    QString words = window_text(sensitivity_sentence(sensitivity));
    for (const std::string& sentence : sensitivity.not_possible)
        words += BarsPage::tr("\nNot tried: %1.").arg(window_text(sentence));
    out.sentences = {words};
    out.chart = upgrade_bars(sensitivity);
    for (const Upgrade& upgrade : sensitivity.upgrades) {
        const bool possible = !upgrade.machine_settings.empty();
        const QString why = possible ? QString()
                                     : BarsPage::tr(
                                           " It cannot be adopted: no numbers of the "
                                           "machine's profile make this change.");
        out.things.push_back(
            {window_text(upgrade_sentence(upgrade)) + QLatin1Char('.') + why, possible});
    }
    // Adopt sets the numbers of the machine; their names are for files.
    const Table all = upgrades_table(sensitivity);
    out.table =
        select(all, {"name", "gain", "gain_{}_percent", "tokens_per_s", "bottleneck", "settings"});
    out.csv = to_csv(all);
    return out;
}

BarsPage::BarsPage(Words words, QWidget* parent)
    : AnswerPage(parent),
      words_(std::move(words)),
      sentences_(text_label(words_.sentences)),
      option_(new QCheckBox(words_.option)),
      parts_(new PictureTable(PictureTable::Arrangement::bars, words_.parts, [this](int thing) {
          const bool there = thing >= 0 && thing < static_cast<int>(shown_.things.size());
          return there ? shown_.things[static_cast<std::size_t>(thing)] : Described();
      })) {
    setAccessibleName(words_.name);
    QPushButton* const ask = askButton(words_.ask, words_.asking, words_.tooltip, false);
    option_->setToolTip(words_.option_tooltip);
    option_->setAccessibleDescription(words_.option_tooltip);
    layOut(words_and_buttons(sentences_, {option_, ask}), parts_, words_.page,
           {sentences_, parts_});
    option_->setVisible(!words_.option.isEmpty());
    connect(option_, &QCheckBox::toggled, this, [this] {
        if (answer_ || isBusy()) Q_EMIT requested();
    });
    connect(parts_, &PictureTable::adopted, this, &BarsPage::adopted);
    setAnswer({});
}

bool BarsPage::isOptionChecked() const { return option_->isChecked(); }

void BarsPage::setAnswer(Answer answer) {
    answer_ = std::move(answer);
    showAnswer(answer_ != nullptr);
    parts_->select(kNoId);
    showAll();
}

void BarsPage::setByteUnits(ByteUnits units) {
    units_ = units;
    showAll();
}

void BarsPage::showAll() {
    shown_ = answer_ ? answer_(units_) : BarsAnswer();
    sentences_->setVisible(answer_ != nullptr);
    show_sentences(sentences_, shown_.sentences, kMostSentences);
    parts_->setPicture(shown_.things.empty() ? PictureView::Make()
                                             : [this](const PictureSpace& space) {
                                                   return bars_picture(shown_.chart, space);
                                               });
    parts_->setTable(shown_.table, units_);
}

BarsPage* systems_page() {
    return new BarsPage(
        {{},
         BarsPage::tr("Findings of the comparison"),
         {BarsPage::tr("Tokens per second of each system"), BarsPage::tr("Systems"),
          BarsPage::tr("Selected system"),
          BarsPage::tr("Adopts this system (Enter, double click)")},
         {BarsPage::tr("How fast are other systems?"),
          BarsPage::tr(
              "Compare systems predicts this model on this machine with every system, with "
              "the same batch."),
          BarsPage::tr("The scenario has changed since these systems were compared.")},
         BarsPage::tr("Compare &systems"),
         BarsPage::tr("Comparing ..."),
         BarsPage::tr("Predict this model on this machine with every system, with the same batch"),
         BarsPage::tr("As their &users run them"),
         BarsPage::tr(
             "Each system has the settings of its own defaults and examples, and not those "
             "of its fastest plan")});
}

BarsPage* sensitivity_page(QWidget* parent) {
    const QString changes = BarsPage::tr(
        "this scenario with more device memory, a faster link, more cores, faster host memory and "
        "the next GPU");
    return new BarsPage(
        {BarsPage::tr("Sensitivity"),
         BarsPage::tr("The limit, and the largest gain"),
         {BarsPage::tr("Gain of each change"), BarsPage::tr("Changes of the machine"),
          BarsPage::tr("The selected change"),
          BarsPage::tr(
              "Adopts the change of the machine (Enter, double click); Undo takes it back")},
         {BarsPage::tr("Which change would gain most?"),
          BarsPage::tr("Try changes predicts %1.").arg(changes),
          BarsPage::tr("The scenario has changed since these changes were tried.")},
         BarsPage::tr("&Try changes"),
         BarsPage::tr("Trying ..."),
         BarsPage::tr("Predict %1").arg(changes)},
        parent);
}

}  // namespace sluice

// Bars and rows to choose from: all systems for one model on one machine; what more of one thing
// would gain.
#pragma once

#include "planner-gui/pages/answer_page.h"
#include "planner-gui/pages/picture_table.h"
#include "sim/answers/compare/comparison.h"
#include "sim/answers/search/sensitivity.h"
#include "sim/report/bars.h"

namespace sluice {

/// What such a page shows.
struct BarsAnswer {
    QStringList sentences;  ///< above the bars: some of them, the others as a tooltip
    BarChart chart;
    Table table;
    std::vector<Described> things;  ///< one a bar and row
    std::string csv;
};

BarsAnswer systems_answer(const Comparison& comparison, ByteUnits units);
BarsAnswer sensitivity_answer(const Sensitivity& sensitivity);

class BarsPage : public AnswerPage {
    Q_OBJECT
  public:
    struct Words {
        QString name;       ///< of the page
        QString sentences;  ///< what they are about
        PictureTable::Names parts;
        Sentences page;
        QString ask, asking, tooltip;  ///< of the button
    };
    explicit BarsPage(Words words, QWidget* parent = nullptr);

    /// Makes the answer in the units that are chosen; empty: there is none.
    using Answer = std::function<BarsAnswer(ByteUnits)>;
    void setAnswer(Answer answer);
    void setByteUnits(ByteUnits units) override;
    QByteArray svg() const override { return parts_->picture()->svg(); }
    QString csv() const override { return qtext(shown_.csv); }
    QString selectedWords() const { return parts_->words(); }

  Q_SIGNALS:
    /// The scenario is to become this thing. Only what can be adopted.
    void adopted(int thing);

  private:
    void showAll();

    const Words words_;
    Answer answer_;
    BarsAnswer shown_;
    ByteUnits units_ = ByteUnits::decimal;
    QLabel* sentences_;
    PictureTable* parts_;
};

/// GPUs that train together cannot be adopted: they are another machine.
BarsPage* systems_page();
/// Only changes that numbers of the machine make can be adopted.
BarsPage* sensitivity_page(QWidget* parent = nullptr);

}  // namespace sluice

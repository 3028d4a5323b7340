// Pages with bars and rows to choose from: all systems for a model on a machine; gains of more of
// one resource.
#pragma once

#include "planner-gui/pages/answer_page.h"
#include "planner-gui/pages/picture_table.h"
#include "sim/answers/compare/comparison.h"
#include "sim/answers/search/sensitivity.h"
#include "sim/report/bars.h"

class QCheckBox;

namespace sluice {

struct BarsAnswer {
    QStringList sentences;  ///< above the bars: the first few, all of them in a tooltip
    BarChart chart;
    Table table;
    std::vector<Described> things;  ///< one per bar and row
    std::string csv;
};

BarsAnswer systems_answer(const Comparison& comparison, ByteUnits units);
BarsAnswer sensitivity_answer(const Sensitivity& sensitivity);

class BarsPage : public AnswerPage {
    Q_OBJECT
  public:
    struct Words {
        QString name;       ///< name of the page
        QString sentences;  ///< accessible name of the sentences
        PictureTable::Names parts;
        Sentences page;
        QString ask, asking, tooltip;  ///< of the button
        /// Words of a check box that changes the question; empty: there is none.
        QString option = {}, option_tooltip = {};
    };
    explicit BarsPage(Words words, QWidget* parent = nullptr);

    /// Makes the contents in the chosen units; empty: no answer.
    using Answer = std::function<BarsAnswer(ByteUnits)>;
    void setAnswer(Answer answer);
    void setByteUnits(ByteUnits units) override;
    QByteArray svg() const override { return parts_->picture()->svg(); }
    QString csv() const override { return qtext(shown_.csv); }
    QString selectedWords() const { return parts_->words(); }
    bool isOptionChecked() const;

  Q_SIGNALS:
    /// The scenario is to become this thing; only for things that can be adopted.
    void adopted(int thing);

  private:
    void showAll();

    const Words words_;
    Answer answer_;
    BarsAnswer shown_;
    ByteUnits units_ = ByteUnits::decimal;
    QLabel* sentences_;
    QCheckBox* option_;
    PictureTable* parts_;
};

/// Clusters cannot be adopted, since they are other machines.
BarsPage* systems_page();
/// A change can be adopted if numbers of the machine's profile make it.
BarsPage* sensitivity_page(QWidget* parent = nullptr);

}  // namespace sluice

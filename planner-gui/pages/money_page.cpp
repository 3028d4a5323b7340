#include "planner-gui/pages/money_page.h"

#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include "planner-gui/pages/fitted_table.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/picture_view.h"
#include "planner-gui/pictures/answer_words.h"
#include "sim/report/answers/answer_reports.h"

namespace sluice {

MoneyPage::MoneyPage(QWidget* parent)
    : Page(parent),
      heading_(heading_label(tr("Plan"))),
      words_(text_label(tr("Rent and purchase"))),
      view_(new PictureView(tr("Rent or buy"))),
      model_(new TableModel(this)),
      table_(table_view(model_, tr("Ways to pay"))),
      selected_(text_label(tr("Selected way to pay"))) {
    table_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    table_->setMostLines(1);  // in a low window each way is in sight; selected_ has all words
    auto* const both = new QSplitter(Qt::Vertical);
    both->addWidget(view_);
    both->addWidget(table_);
    both->setSizes({2000, 3000});  // only the ratio matters
    both->setChildrenCollapsible(false);
    auto* const column = new QVBoxLayout(this);
    for (QLabel* const label : {heading_, words_}) column->addWidget(label);
    column->addWidget(both, 1);
    column->addWidget(selected_);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            &MoneyPage::showSelected);
    refresh();
}

void MoneyPage::setPrediction(std::shared_ptr<const ScenarioAnswer> prediction) {
    prediction_ = std::move(prediction);
    refresh();
}

void MoneyPage::setByteUnits(ByteUnits units) {
    units_ = units;
    refresh();
}

void MoneyPage::refresh() {
    view_->setVisible(prediction_ && prediction_->cost.can_break_even());
    if (!prediction_) {
        heading_->setText(tr("No prediction: the form says what is missing or wrong"));
        words_->clear();
        view_->setPicture({});
        model_->setTable({});
        showSelected();
        return;
    }
    const CostAnswer& cost = prediction_->cost;
    heading_->setText(tr("%1 on %2: ways to pay for %3 tokens")
                          .arg(breakable(prediction_->report().asked.model_name),
                               qtext(prediction_->report().asked.machine_name),
                               qtext(format_short_count(cost.tokens))));
    QStringList words;
    for (const std::string& one : ways_to_pay_words(cost, prediction_->together))
        words << window_text(one);
    words_->setText(words.join(QLatin1Char('\n')));
    if (cost.can_break_even())
        view_->setPicture([shown = prediction_](const PictureSpace& space) {
            return break_even_picture(shown->cost, space).value_or(Picture());
        });
    else
        view_->setPicture({});
    Table table = ways_to_pay_table(cost, prediction_->together);
    table.columns.front().title = "kind";  // views have no headings of rows
    model_->setTable(std::move(table), units_);
    fit_columns(table_);  // another machine's offers may need other widths
    showSelected();
}

void MoneyPage::showSelected() {
    const QModelIndex at = table_->currentIndex();
    const QString all = at.siblingAtColumn(0).data(Qt::ToolTipRole).toString();
    selected_->setText(all.isEmpty() ? tr("Select a row to see all of it.") : all);
    selected_->setVisible(prediction_ != nullptr);
}

QByteArray MoneyPage::svg() const {
    return prediction_ && prediction_->cost.can_break_even() ? view_->svg() : QByteArray();
}

QString MoneyPage::csv() const {
    return prediction_ ? qtext(to_csv(ways_to_pay_table(prediction_->cost, prediction_->together)))
                       : QString();
}

}  // namespace sluice

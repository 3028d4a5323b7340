#include "planner-gui/pages/answer_page.h"

#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "tests/catch.h"
#include "tests/planner-gui/pages/shown_page.h"

namespace sluice {
namespace {

using test::show;

/// Its answer is a number.
class NumberPage : public AnswerPage {
  public:
    NumberPage() : AnswerPage(nullptr) {
        layOut(busy_, number_,
               {QStringLiteral("Which number?"), QStringLiteral("Ask for one."),
                QStringLiteral("Another number is wanted.")},
               {number_});
    }
    void setNumber(const QString& number) {
        number_->setText(number);
        showAnswer(!number.isEmpty());
    }
    using AnswerPage::isOfBefore;
    void setByteUnits(ByteUnits) override {}
    QByteArray svg() const override { return {}; }
    QString csv() const override { return number_->text(); }

  protected:
    void showBusy() override { busy_->setText(isBusy() ? QStringLiteral("busy") : QString()); }

  private:
    QLabel* busy_ = new QLabel;
    QLabel* number_ = new QLabel;
};

bool visible(const NumberPage& page, const QString& words) {
    for (const QLabel* const label : page.findChildren<QLabel*>())
        if (label->isVisible() && label->text().contains(words)) return true;
    return false;
}

const QString kOfBefore = QStringLiteral("earlier answer");

}  // namespace

TEST_CASE("answer page: how to ask, then the answer, and how to ask again", "[pages]") {
    NumberPage page;
    show(page);
    CHECK(visible(page, QStringLiteral("Ask for one.")));
    page.setNumber(QStringLiteral("12"));
    CHECK(visible(page, QStringLiteral("12")));
    CHECK(!visible(page, QStringLiteral("Ask for one.")));
    page.setNumber({});
    CHECK(visible(page, QStringLiteral("Ask for one.")));
}

TEST_CASE("answer page: a failure says so, and that an answer is of before", "[pages]") {
    NumberPage page;
    show(page);
    page.setBusy(true);
    CHECK(visible(page, QStringLiteral("busy")));
    page.fail(QStringLiteral("There is none."));
    CHECK(!page.isBusy());
    CHECK(!visible(page, QStringLiteral("busy")));
    CHECK(visible(page, QStringLiteral("There is none.")));
    CHECK(!visible(page, kOfBefore));

    page.setBusy(true);
    CHECK(!visible(page, QStringLiteral("There is none.")));
    page.setNumber(QStringLiteral("12"));
    CHECK(!page.isOfBefore());
    page.fail(QStringLiteral("No more of it."));  // it is what was asked for
    CHECK(!visible(page, kOfBefore));

    page.setBusy(true);
    CHECK(page.isOfBefore());
    page.fail(QStringLiteral("There is no other."));
    CHECK(visible(page, QStringLiteral("There is no other.")));
    CHECK(visible(page, kOfBefore));
    CHECK(visible(page, QStringLiteral("12")));
}

TEST_CASE("answer page: only an answer can be outdated, until there is another", "[pages]") {
    NumberPage page;
    show(page);
    const auto* const note = page.findChild<OutdatedNote*>();
    page.setOutdated(true);
    CHECK(!note->isVisible());
    page.setNumber(QStringLiteral("12"));
    CHECK(!note->isVisible());
    page.setOutdated(true);
    CHECK(note->isVisible());
    const QSignalSpy again(&page, &AnswerPage::requested);
    QTest::keyClick(note->button(), Qt::Key_Space);
    CHECK(again.count() == 1);
    page.setNumber(QStringLiteral("13"));
    CHECK(!note->isVisible());
}

}  // namespace sluice

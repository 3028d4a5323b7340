#include "planner-gui/pages/page_parts.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPushButton>
#include <QScrollBar>
#include <algorithm>

#include "planner-gui/pages/keyboard_tips.h"
#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/pictures/palette.h"

namespace sluice {
namespace {

constexpr int kLeastArea = 4;  // in line heights

/// Colours a label's text, and again whenever the page's palette changes.
class WarningColour : public QObject {
  public:
    WarningColour(QLabel* label, QWidget* page) : QObject(label), label_(label) {
        page->installEventFilter(this);
        take(page->palette());
    }
    bool eventFilter(QObject* page, QEvent* event) override {
        if (event->type() == QEvent::PaletteChange) take(static_cast<QWidget*>(page)->palette());
        return false;
    }

  private:
    void take(QPalette palette) {
        palette.setColor(QPalette::WindowText, qcolor(colours_of(palette).waiting));
        label_->setPalette(palette);
    }
    QLabel* label_;
};

class UndoFilter : public QObject {
  public:
    using QObject::QObject;
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() != QEvent::ShortcutOverride) return QObject::eventFilter(watched, event);
        const auto* const key = static_cast<QKeyEvent*>(event);
        if (!key->matches(QKeySequence::Undo) && !key->matches(QKeySequence::Redo)) return false;
        event->ignore();
        return true;
    }
};

class WheelFilter : public QObject {
  public:
    using QObject::QObject;
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() != QEvent::Wheel) return QObject::eventFilter(watched, event);
        event->ignore();
        return true;
    }
};

}  // namespace

void use_palette(const QPalette& palette) {
    QApplication::setPalette(palette);
    QApplication::setPalette(check_box_palette(palette), "QCheckBox");
}

void leave_undo_to_window(QWidget* editor) { editor->installEventFilter(new UndoFilter(editor)); }

void leave_wheel_to_area(QWidget* editor) { editor->installEventFilter(new WheelFilter(editor)); }

QLabel* text_label(const QString& accessible_name) {
    auto* const label = new QLabel;
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setAccessibleName(accessible_name);
    return label;
}

QLabel* sized_label(const QString& text, double factor) {
    QLabel* const label = text_label(text);
    label->setText(text);
    QFont font = label->font();
    font.setPointSizeF(factor * font.pointSizeF());
    font.setBold(factor > 1);
    label->setFont(font);
    return label;
}

QLabel* heading_label(const QString& accessible_name) {
    QLabel* const label = text_label(accessible_name);
    QFont bold = label->font();
    bold.setBold(true);
    label->setFont(bold);
    QSizePolicy any_width(QSizePolicy::Ignored, QSizePolicy::Preferred);
    any_width.setHeightForWidth(true);
    label->setSizePolicy(any_width);
    return label;
}

QString breakable(const std::string& name) {
    constexpr int kShort = 24;  // letters that stay together
    QString out = qtext(name);
    for (qsizetype at = kShort; at < out.size(); at += kShort + 1)
        out.insert(at, QChar(0x200B));  // a space of no width
    return out;
}

void put_into(QScrollArea* area, QWidget* widget) {
    area->setWidget(widget);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setFocusPolicy(Qt::NoFocus);
}

QWidget* words_and_buttons(QLabel* words, const QList<QAbstractButton*>& buttons) {
    auto* const both = new QWidget;
    auto* const row = new QHBoxLayout(both);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(words, 1);
    row->addStretch();
    for (QAbstractButton* const button : buttons) row->addWidget(button, 0, Qt::AlignTop);
    return both;
}

FittedArea::FittedArea(QWidget* widget) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    put_into(this, widget);
}

int FittedArea::widgetHeight() const {
    return widget()->hasHeightForWidth() ? widget()->heightForWidth(contentsRect().width())
                                         : widget()->minimumHeight();
}

QSize FittedArea::sizeHint() const { return {QScrollArea::sizeHint().width(), widgetHeight()}; }

QSize FittedArea::minimumSizeHint() const {
    // A wrapping widget contains labels that do not wrap.
    const int words = widget()->hasHeightForWidth() ? widget()->minimumSizeHint().width() +
                                                          verticalScrollBar()->sizeHint().width()
                                                    : 0;
    return {words, std::min(widgetHeight(), kLeastArea * fontMetrics().height())};
}

bool FittedArea::viewportEvent(QEvent* event) {
    // The widget's height has changed.
    if (event->type() == QEvent::LayoutRequest || event->type() == QEvent::Resize) {
        // A bar makes the widget narrower, so words wrap and may need the bar that they would not
        // have needed without it.
        const bool whole = widgetHeight() <= contentsRect().height();
        setVerticalScrollBarPolicy(whole ? Qt::ScrollBarAlwaysOff : Qt::ScrollBarAsNeeded);
        updateGeometry();
    }
    return QScrollArea::viewportEvent(event);
}

QString capitalized(QString sentence) {
    if (!sentence.isEmpty()) sentence[0] = sentence[0].toUpper();
    return sentence;
}

void show_sentences(QLabel* label, const QStringList& sentences, int most) {
    QStringList shown = sentences.mid(0, most);
    const qsizetype more = sentences.size() - shown.size();
    if (more > 0) shown << QLabel::tr("and %1 more").arg(more);
    label->setText(shown.join(QLatin1Char('\n')));
    set_reachable_tip(label, more > 0 ? sentences.join(QLatin1Char('\n')) : QString());
}

void colour_as_warning(QLabel* label, QWidget* page) { new WarningColour(label, page); }

QString wrapped_tooltip(const QString& lines) {
    if (lines.isEmpty()) return {};
    return QStringLiteral("<qt>%1</qt>")
        .arg(lines.toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>")));
}

}  // namespace sluice

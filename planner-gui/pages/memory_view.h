// The picture of the page "Memory".
#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "planner-gui/pages/memory_painter.h"
#include "planner-gui/pictures/operation_facts.h"

namespace sluice {

class MemoryView : public QWidget {
    Q_OBJECT

  public:
    explicit MemoryView(QWidget* parent = nullptr);

    void set_report(const std::shared_ptr<const TimedPlan>& report);
    void set_byte_units(ByteUnits units);
    const MemoryPicture& picture() const { return picture_; }
    ByteUnits units() const { return units_; }

    /// What a tooltip at this point says, as HTML; empty: nothing.
    QString tooltip_at(QPointF position) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

  private:
    MemoryLayout layout_now() const;
    /// Of what lies so many bytes from the left end of a stack's bar.
    Facts facts_of(const MemoryStack& stack, Bytes at) const;
    /// Of the device at that time of a step.
    Facts facts_at(Seconds time) const;
    QString bytes(Bytes count) const { return byte_text(static_cast<double>(count), units_); }
    /// To a screen reader, and how large it is.
    void describe();
    void set_cursor(std::optional<Seconds> time);

    MemoryPicture picture_;
    ByteUnits units_ = ByteUnits::decimal;
    std::optional<Seconds> cursor_;  ///< on the curve
};

}  // namespace sluice

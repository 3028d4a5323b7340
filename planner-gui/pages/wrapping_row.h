// Widgets side by side, on further lines where one is too narrow for all.
#pragma once

#include <QLayout>
#include <QList>

namespace sluice {

/// As narrow as its widest widget; as high as its width asks for.
class WrappingRow : public QLayout {
  public:
    WrappingRow();
    ~WrappingRow() override;

    void addItem(QLayoutItem* item) override;
    int count() const override;
    QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;
    Qt::Orientations expandingDirections() const override { return {}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize minimumSize() const override;
    QSize sizeHint() const override;
    void setGeometry(const QRect& rect) override;

  private:
    /// Where each item goes in `width`, from the origin on; empty ones get nothing.
    QList<QRect> placed(int width) const;

    QList<QLayoutItem*> items_;
};

}  // namespace sluice

// Which layout puts widgets side by side, and on further lines where one line is too narrow?
#pragma once

#include <QLayout>
#include <QList>

namespace sluice {

/// At least as wide as its widest widget; as high as its width requires.
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
    /// The place of each item in `width`, from the origin on; hidden items have none.
    QList<QRect> placed(int width) const;

    QList<QLayoutItem*> items_;
};

}  // namespace sluice

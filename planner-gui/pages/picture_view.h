// A widget that paints any Picture, exports the picture that it shows, and finds the thing under
// the pointer.
#pragma once

#include <QByteArray>
#include <QWidget>
#include <functional>
#include <optional>

#include "sim/report/colours.h"
#include "sim/report/picture.h"

namespace sluice {

class PictureView : public QWidget {
    Q_OBJECT
  public:
    /// Makes the picture for the given room. A picture without shapes: nothing to show.
    using Make = std::function<Picture(const PictureSpace&)>;

    explicit PictureView(const QString& accessible_name, QWidget* parent = nullptr);

    /// The picture to show from now on, in every size. It is made when it is painted or requested,
    /// since values may arrive faster than they can be painted: 208 rows of cost against speed in 6
    /// s.
    void setPicture(Make make);
    const Picture& picture() const;
    /// kNoId: none, or one that no longer exists.
    int selected() const;
    /// A thing that is not in the picture selects nothing.
    void select(int id);
    /// The least size in lines of text. Without it, the view is as high as the picture requires.
    void setLeastLines(int width, int height);

    /// The picture on the screen, on white; empty if there is none.
    virtual QByteArray svg() const;
    /// The tooltip at this point; empty if there is none.
    virtual QString tooltipAt(QPointF position) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  Q_SIGNALS:
    void selectionChanged(int id);
    /// By a double click, or by Enter or space on the selected thing.
    void activated(int id);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

    PictureSpace space() const;
    /// The picture on the screen; if there is none, the picture of a file.
    PictureSpace exportedSpace() const;
    void refresh();
    /// The size or the font has changed.
    virtual void takeRoom() { refresh(); }
    /// The pointer is at this point, without a button; empty: it has left.
    virtual void pointAt(std::optional<QPointF> position);
    void updateLeastHeight();

  private:
    void outline(QPainter& painter, int id) const;

    Make make_;
    mutable Picture picture_;
    mutable bool made_ = true;  ///< for the current size
    QSize least_{24, 4};
    bool measured_ = true;  ///< whether the picture decides the least height
    double least_height_ = 0;
    int selected_ = kNoId;
};

/// The thing that `key` selects after the thing `now` in the order (-1: none yet); empty for other
/// keys and empty orders.
std::optional<int> next_place(const KeyOrder& order, int now, int key);

/// Paints all shapes from (0, 0).
void paint_picture(QPainter& painter, const Picture& picture, const Colours& colours,
                   const QFont& font);

}  // namespace sluice

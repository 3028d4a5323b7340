// Paints any Picture, which is also what it exports; finds the thing under the pointer.
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
    /// Makes the picture for the room there is; nothing to show: without shapes.
    using Make = std::function<Picture(const PictureSpace&)>;

    explicit PictureView(const QString& accessible_name, QWidget* parent = nullptr);

    /// What to show from now on, in every size. It is made when it is painted or asked for, since
    /// values may arrive faster than that: 208 rows of cost against speed in 6 s.
    void setPicture(Make make);
    const Picture& picture() const;
    /// kNoId: none, or one that is not there any more.
    int selected() const;
    /// What is not in the picture selects nothing.
    void select(int id);
    /// So many lines of text wide and high at least. Without it as high as the picture needs.
    void setLeastLines(int width, int height);

    /// What is on the screen, on white; empty where there is nothing.
    virtual QByteArray svg() const;
    /// The tooltip at this point; empty where there is none.
    virtual QString tooltipAt(QPointF position) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  Q_SIGNALS:
    void selectionChanged(int id);
    /// By a double click, or Enter or space on the one selected.
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
    /// The same, or that of a file where nothing is on the screen.
    PictureSpace exportedSpace() const;
    /// The picture is to be made again.
    void refresh();
    /// There is another size, or letters of another size.
    virtual void takeRoom() { refresh(); }
    /// The pointer is there, without a button; nothing: it has left.
    virtual void pointAt(std::optional<QPointF> position);
    void updateLeastHeight();

  private:
    void outline(QPainter& painter, int id) const;

    Make make_;
    mutable Picture picture_;
    mutable bool made_ = true;  ///< for the room there is now
    QSize least_{24, 4};
    bool measured_ = true;  ///< the least height is what the picture needs
    double least_height_ = 0;
    int selected_ = kNoId;
};

/// Where `key` leads from the thing at `now` in the order (-1: none yet); nothing for other keys,
/// or where there is nothing.
std::optional<int> next_place(const KeyOrder& order, int now, int key);

/// Paints all shapes from (0, 0).
void paint_picture(QPainter& painter, const Picture& picture, const Colours& colours,
                   const QFont& font);

}  // namespace sluice

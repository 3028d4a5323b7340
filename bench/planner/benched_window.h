// The window that is timed: requests a person makes, until the whole answer is there.
#pragma once

#include <QPushButton>

#include "bench/planner/stillness.h"
#include "planner-gui/pages/bars_page.h"
#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/explore_page.h"
#include "planner-gui/window/main_window.h"
#include "planner-gui/window/pages.h"

namespace sluice {

class BenchedWindow {
  public:
    explicit BenchedWindow(MainWindow& window) : window_(window) {}

    bool shown(PredictionStage stage) const {
        const auto now = window_.prediction();
        return now != nullptr && ask_the_same(now->planned, window_.stack().current()) &&
               now->stage >= stage;
    }
    void settle() {
        still_.run_until([&] { return shown(PredictionStage::remedies); });
        still_.paint();
    }
    template <typename Start>
    void finish(JobKind kind, Start start) {
        bool done = false;
        const auto seen =
            QObject::connect(&window_.session(), &PlannerSession::finished, &window_,
                             [&done, kind](JobKind one) { done = done || one == kind; });
        start();
        still_.run_until([&] { return done; });
        QObject::disconnect(seen);
    }

    void find_machines() {
        finish(JobKind::machines, [this] { window_.pages().showMachines(); });
    }
    void compare_systems() {
        ComparePage& page = window_.pages().compare();
        window_.pages().setCurrentWidget(&page);
        finish(JobKind::compare, [&] { Q_EMIT page.systems().requested(); });
    }
    void explore() {
        ExplorePage& page = window_.pages().explore();
        window_.pages().setCurrentWidget(&page);
        finish(JobKind::explore, [&] {
            for (QPushButton* const button : page.findChildren<QPushButton*>())
                if (button->text() == QStringLiteral("&Run")) button->click();
        });
    }
    void find_sensitivity() {
        BarsPage& page = window_.pages().sensitivity();
        window_.pages().setCurrentWidget(&page);
        finish(JobKind::sensitivity, [&] { Q_EMIT page.requested(); });
    }

  protected:
    MainWindow& window_;
    Stillness still_;
};

}  // namespace sluice

// How much memory does the window take after many searches? No test asserts the resident part.
#pragma once

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <fstream>

#include "bench/planner/benched_window.h"
#include "planner-gui/session/example.h"
#include "planner-gui/window/field_row.h"
#include "planner-gui/window/start_page.h"

namespace sluice {

class MemoryGrowth : public BenchedWindow {
  public:
    using BenchedWindow::BenchedWindow;

    /// The kinds of searches take turns; each has another question than the last of its kind.
    void measure(int searches) {
        fmt::print("{:<10} {:>10} {:>10} {:>10}   MB\n", "searches", "live", "kept free",
                   "resident");
        window_.files().start(example_scenario());
        settle();
        tell(0);
        for (int i = 1; i <= searches; ++i) {
            search(i);
            if (i % 10 == 0 || i == searches) tell(i);
        }
    }

  private:
    void search(int i) {
        constexpr int kKinds = 5;
        PlannedScenario planned = example_scenario();
        planned.training["batch"] = std::to_string(16 + i);
        window_.stack().add(planned);
        settle();
        switch (i % kKinds) {
            case 0:
                return compare_systems();
            case 1:
                return find_start(i);
            case 2:
                return find_machines();
            case 3:
                return explore();
            default:
                return find_sensitivity();
        }
    }
    void find_start(int i) {
        window_.showStart(true);
        StartPage& page = window_.startPage();
        page.row("model")->setText(QStringLiteral("qwen2.5-32b"));
        page.row("tokens")->setText(QStringLiteral("%1B").arg(i));
        finish(JobKind::start, [&] { page.findButton()->click(); });
        window_.showStart(false);
    }
    static void tell(int searches) {
        QCoreApplication::processEvents();
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        const struct mallinfo2 now = mallinfo2();
        std::ifstream pages("/proc/self/statm");
        double all = 0, resident = 0;
        pages >> all >> resident;
        fmt::print("{:<10} {:>10.1f} {:>10.1f} {:>10.1f}\n", searches,
                   static_cast<double>(now.uordblks + now.hblkhd) / kMega,
                   static_cast<double>(now.fordblks) / kMega,
                   resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / kMega);
        std::fflush(stdout);
    }
};

}  // namespace sluice

#include "sim/plan/schedules/python_thread.h"

#include <utility>

namespace sluice {

void PythonThread::wait_for(OperationId operation, int layer) {
    if (operation < 0) return;
    add(layer);
    waits_.push_back({operation, false});
}

std::vector<Dependency> PythonThread::reached(int layer) {
    add(layer);
    std::vector<Dependency> reached = waits_;
    if (last_ >= 0) reached.push_back({last_, false});
    return reached;
}

void PythonThread::add(int layer) {
    if (not_added_ == 0) return;
    Operation python;
    python.eager_operations = std::exchange(not_added_, 0);
    last_ = build_.add(OperationKind::issue, Lane::python, layer, std::exchange(waits_, {}),
                       std::move(python));
    if (first_ < 0) first_ = last_;
}

}  // namespace sluice

#include "sim/answers/search/mpi_pool.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

InputError no_mpi() {
    return InputError(
        "mpirun has started several processes, but this program was built without MPI; install "
        "libopenmpi-dev and build again, or start it without mpirun");
}

}  // namespace

std::unique_ptr<WorkerPool> mpi_workers(Work) { throw no_mpi(); }
void serve_mpi(const Work&) { throw no_mpi(); }

}  // namespace sluice

// How does a search run on several machines? As ranks of MPI: the first gives out the work, gathers
// the answers and writes the files; the others answer.
#pragma once

#include <memory>

#include "sim/answers/search/worker_pool.h"

namespace sluice {

/// The place of this process among those that mpirun started, from the environment that Open MPI
/// sets; without mpirun it is alone.
struct MpiPlace {
    int rank = 0, ranks = 1;
};
MpiPlace mpi_place();

/// Workers are the other ranks. One that is not heard of for kLostAfter seconds is lost: its work
/// is given to another, or done here if none is left. The other ranks must call serve_mpi().
/// Precondition: rank 0 of more than one. Throws InputError in a program built without MPI.
std::unique_ptr<WorkerPool> mpi_workers(Work work);

/// Answers rank 0 until it has no more work. Throws InputError in a program built without MPI.
void serve_mpi(const Work& work);

inline constexpr double kLostAfter = 5;

}  // namespace sluice

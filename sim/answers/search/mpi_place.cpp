#include <cstdlib>

#include "sim/answers/search/mpi_pool.h"

namespace sluice {
namespace {

int number_of(const char* variable, int otherwise) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace

MpiPlace mpi_place() {
    return {number_of("OMPI_COMM_WORLD_RANK", 0), number_of("OMPI_COMM_WORLD_SIZE", 1)};
}

}  // namespace sluice

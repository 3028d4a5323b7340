// The C++ library's random_device would want arc4random of glibc 2.36, which Ubuntu 22.04 lacks.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() noexcept {
    std::uint32_t value = 0;
    if (getentropy(&value, sizeof(value)) != 0) std::abort();
    return value;
}

// A disk that is full: no file can grow beyond a few bytes while this lives.
#pragma once

#include <sys/resource.h>

#include <csignal>

#include "tests/catch.h"

namespace sluice::test {

class LittleSpace {
  public:
    explicit LittleSpace(rlim_t bytes = 64) {
        // Without this the kernel ends the program instead of failing the write.
        before_ = std::signal(SIGXFSZ, SIG_IGN);
        REQUIRE(getrlimit(RLIMIT_FSIZE, &limit_) == 0);
        const rlimit little{bytes, limit_.rlim_max};
        REQUIRE(setrlimit(RLIMIT_FSIZE, &little) == 0);
    }
    ~LittleSpace() {
        setrlimit(RLIMIT_FSIZE, &limit_);
        std::signal(SIGXFSZ, before_);
    }
    LittleSpace(const LittleSpace&) = delete;
    LittleSpace& operator=(const LittleSpace&) = delete;

  private:
    rlimit limit_{};
    void (*before_)(int) = SIG_DFL;
};

}  // namespace sluice::test

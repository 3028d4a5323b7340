// The message of a mistake, for tests of messages.
#pragma once

#include <string>

#include "sim/base/input_error.h"
#include "tests/catch.h"

namespace sluice {

/// The message of the InputError that `call` throws; fails the test when it throws none.
template <typename Call>
std::string input_error_of(Call call) {
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    FAIL("expected an InputError, but the input was accepted");
    return "";
}

}  // namespace sluice

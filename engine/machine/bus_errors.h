// How does the program end if the system cannot give it the bytes of memory that it reads?
#pragma once

namespace sluice {

/// From now on SIGBUS ends the program with one sentence on stderr: with exit status 2 where a file
/// that is read as memory became shorter or its disk failed, with 3 where memory has an error.
void explain_bus_errors();

}  // namespace sluice

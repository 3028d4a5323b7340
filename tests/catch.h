// The one include for unit tests: hides what differs between Catch2 v2 (Debian 12) and v3. In both:
// Approx(1.5), and ContainsSubstring("text") for CHECK_THAT and REQUIRE_THROWS_WITH.
#pragma once

#if SLUICE_CATCH2_MAJOR >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
#else
#include <catch2/catch.hpp>
#include <string>
inline auto ContainsSubstring(const std::string& text) { return Catch::Matchers::Contains(text); }
#endif

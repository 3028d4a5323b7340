// Which question do the fields of the start page ask, and which of them are wrong?
#pragma once

#include <QString>
#include <map>
#include <optional>
#include <string>

#include "sim/answers/search/run_question.h"

namespace sluice {

/// By asked_run_fields(), as typed; what is empty may be missing.
using StartFields = std::map<std::string, std::string>;

struct StartQuestion {
    std::optional<RunQuestion> question;      ///< empty if a field is wrong
    std::map<std::string, QString> mistakes;  ///< a sentence for each field that is wrong
};
StartQuestion read_start_question(const StartFields& fields);

}  // namespace sluice

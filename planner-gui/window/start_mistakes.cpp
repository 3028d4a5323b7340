#include "planner-gui/window/start_mistakes.h"

#include <QObject>
#include <filesystem>

#include "planner-gui/pictures/answer_words.h"
#include "sim/answers/search/run_question.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"

namespace sluice {

QString model_mistake(const std::string& text) {
    if (text.empty())
        return QObject::tr(
            "Enter a model: its name, a size such as 32B, or a path to a config.json.");
    std::error_code error;
    try {
        read_model(model_of(text));
        return {};
    } catch (const InputError& mistake) {
        if (std::filesystem::exists(text, error)) return window_text(mistake.what());
        const QString hint = qtext(model_hint(text));
        return QObject::tr(
                   "There is no model \"%1\": choose one of the list, or enter a size such "
                   "as 32B or the path to a config.json%2")
            .arg(qtext(text), hint.isEmpty() ? QStringLiteral(".") : hint);
    }
}

QString machine_mistake(const std::string& text) {
    std::error_code error;
    try {
        if (!text.empty()) read_machine({text, {}, {}});
        return {};
    } catch (const InputError& mistake) {
        if (std::filesystem::exists(text, error)) return window_text(mistake.what());
        return QObject::tr(
                   "There is no machine \"%1\": choose one of the list, or enter the path to a "
                   "profile that sluice-calibrate wrote.")
            .arg(qtext(text));
    }
}

}  // namespace sluice

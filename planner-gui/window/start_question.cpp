#include "planner-gui/window/start_question.h"

#include <QObject>
#include <cmath>
#include <filesystem>

#include "planner-gui/pictures/answer_words.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/money_options.h"

namespace sluice {
namespace {

/// Empty if the text names a model.
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

/// Empty if the text names a machine, or nothing.
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

class Reading {
  public:
    explicit Reading(const StartFields& fields) : fields_(fields) {}

    StartQuestion read() {
        RunQuestion asked;
        asked.model = text("model");
        note("model", model_mistake(asked.model));
        if (!text("task").empty()) asked.task = read_task(text("task"), "Task");
        const QString many = QObject::tr("a number of tokens such as 2B, or most");
        asked.most_tokens = text("tokens") == "most";
        if (!asked.most_tokens)
            asked.tokens = number("tokens", money_option("tokens"), many, true).value_or(1);
        asked.context =
            whole("seq", 1e8, QObject::tr("a whole number of tokens such as 4096"), true)
                .value_or(1);
        asked.limits.days =
            number("days", money_option("days"), QObject::tr("a number of days such as 30"), false);
        asked.limits.usd = number("budget_usd", money_option("budget_usd"),
                                  QObject::tr("a number of dollars such as 20000"), false);
        if (asked.most_tokens && !asked.limits.any() && out_.mistakes.empty())
            note("tokens", QObject::tr("Enter a deadline or a budget, which limit the tokens."));
        readOwned(asked);
        if (out_.mistakes.empty()) out_.question = std::move(asked);
        return std::move(out_);
    }

  private:
    void readOwned(RunQuestion& asked) {
        asked.owned = text("owned");
        note("owned", machine_mistake(asked.owned));
        asked.owned_gpus =
            whole("owned_gpus", 4096, QObject::tr("a whole number of GPUs such as 2"), false);
        if (const std::string memory = text("owned_memory"); !memory.empty())
            asked.owned_memory = memory;
        if (asked.owned.empty() && (asked.owned_gpus || asked.owned_memory))
            note("owned", QObject::tr("Enter the machine that you own, or clear what it has."));
        if (out_.mistakes.contains("owned") || out_.mistakes.contains("owned_gpus")) return;
        try {
            if (const auto owned = owned_machine(asked)) read_machine(*owned);
        } catch (const InputError& mistake) {
            const bool of_memory = mistake.field() == "host_memory";
            note(of_memory ? "owned_memory" : "owned_gpus", window_text(mistake.what()));
        }
    }

    std::string text(const std::string& field) const {
        const auto typed = fields_.find(field);
        return typed == fields_.end() ? "" : typed->second;
    }
    void note(const std::string& field, const QString& mistake) {
        if (!mistake.isEmpty()) out_.mistakes.emplace(field, mistake);
    }
    std::optional<double> number(const std::string& field, double low, double high,
                                 const QString& expected, bool needed) {
        const std::string typed = text(field);
        if (typed.empty() && !needed) return std::nullopt;
        const std::optional<double> value = parse_amount(typed);
        if (value && *value >= low && *value <= high) return value;
        note(field, typed.empty() ? QObject::tr("Enter %1.").arg(expected)
                                  : QObject::tr("\"%1\": enter %2.").arg(qtext(typed), expected));
        return std::nullopt;
    }
    std::optional<double> number(const std::string& field, const MoneyOption& range,
                                 const QString& expected, bool needed) {
        return number(field, range.low, range.high, expected, needed);
    }
    std::optional<std::int64_t> whole(const std::string& field, double most,
                                      const QString& expected, bool needed) {
        const std::optional<double> value = number(field, 1, most, expected, needed);
        if (!value) return std::nullopt;
        if (*value == std::floor(*value)) return static_cast<std::int64_t>(*value);
        note(field, QObject::tr("\"%1\": enter %2.").arg(qtext(text(field)), expected));
        return std::nullopt;
    }

    const StartFields& fields_;
    StartQuestion out_;
};

}  // namespace

StartQuestion read_start_question(const StartFields& fields) { return Reading(fields).read(); }

}  // namespace sluice

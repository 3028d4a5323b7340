// Do all formats say the same of a table, each in its own way?
#include "sim/report/table.h"

#include <nlohmann/json.hpp>

#include "sim/base/input_error.h"
#include "tests/catch.h"
#include "tests/sim/report/xml_nesting.h"

using namespace sluice;

namespace {

struct Run {
    std::string name;
    double step = 0;
    std::optional<std::int64_t> bytes;
    bool fits = true;
};

const std::vector<Run> kRuns = {{"a, \"b\"", 0.25, 40'000'000'000, true},
                                {"c <&>", 12.5, std::nullopt, false}};

Table runs_table() {
    return table_of<Run>(
        kRuns, {{"name", "run", Unit::text, &Run::name},
                {"step_s", "step", Unit::seconds,
                 [](auto& run) { return Cell(run.step).hidden_if(!run.fits); }},
                {"step_{}_percent_s", "5 to 95%", Unit::seconds,
                 [](auto& run) {
                     return run.fits ? Cell(Range{0.2, 0.3}) : Cell();
                 }},
                {"device.peak_bytes", "device\npeak", Unit::bytes, &Run::bytes},
                {"fits", "fits", Unit::flag,
                 [](auto& run) { return Cell(run.fits).with_mark(!run.fits).with_tooltip("why"); }},
                {"note", "", Unit::text, [](auto&) { return "for programs"; }},
                {"", "nothing", Unit::number, [](auto&) { return Cell(); }}});
}

}  // namespace

TEST_CASE("table: text is aligned, hides what says nothing, and groups rows", "[report]") {
    Table table = runs_table();
    table.rows[1].heading = "others";
    CHECK(to_text(table, "> ") ==
          ">                                          device\n"
          "> run         step              5 to 95%     peak  fits\n"
          "> a, \"b\"  250.0 ms  200.0 ms to 300.0 ms  40.0 GB  yes\n"
          "> others\n"
          "> c <&>          -                     -        -  NO\n");
    CHECK(to_text(Table{table.columns}).empty());
}

TEST_CASE("table: a column of equal values is a line below the table, if it may be", "[report]") {
    Table table = runs_table();
    table.columns[0].once_if_equal = table.columns[3].once_if_equal = true;
    CHECK(to_text(table) == to_text(runs_table()));  // they differ, and one row shows bytes
    table.rows[1].cells[3] = table.rows[0].cells[3];
    CHECK_THAT(to_text(table), ContainsSubstring("c <&>          -                     -  NO\n"
                                                 "in all rows: device peak 40.0 GB\n"));
    CHECK_THAT(to_html(table), ContainsSubstring("<p>in all rows: device peak 40.0 GB</p>") &&
                                   !ContainsSubstring("<th>device peak"));
    CHECK_THAT(to_csv(table), ContainsSubstring("device_peak_bytes"));
}

TEST_CASE("table: a table too wide for a terminal has broken titles and numbered notes",
          "[report]") {
    const std::string remark = "this remark is far longer than what a cell should hold";
    Table table{{{"", "run"}, {"", "a title of five words", Unit::whole}, {"", "remark"}},
                {{{"one", 1, remark}}, {{"two", 22, "short"}}, {{"three", 3, remark}}}};
    const std::string narrow = to_text(table);
    CHECK_THAT(narrow, ContainsSubstring("run    a title of five words  remark\n"));
    CHECK_THAT(narrow, ContainsSubstring("  1  " + remark + "\n") && !ContainsSubstring("[1]"));

    const std::string name(150, 'n');  // the first column stays
    table.rows[0].cells[0] = name;
    const std::string pad(147, ' '), blank(150, ' ');
    CHECK(to_text(table) == blank + "  a title\n" + blank + "  of five\n" +  //
                                "run" + pad + "    words  remark\n" +        //
                                name + "        1  [1]\n" +                  //
                                "two" + pad + "       22  short\n" +         //
                                "three" + std::string(145, ' ') + "        3  [1]\n" + "[1] " +
                                remark + "\n");
    CHECK_THAT(to_html(table), ContainsSubstring(">a title of five words<") &&
                                   ContainsSubstring(">" + remark + "<"));
}

TEST_CASE("table: each unit has its digits", "[report]") {
    const auto text = [](Cell cell, Unit unit) { return cell_text(cell, unit); };
    CHECK(text(14320, Unit::whole) == "14,320");
    CHECK(text(0.25, Unit::number) == "0.25");
    CHECK(text(7.62e9, Unit::count) == "7.62 B");
    CHECK(text(0.24, Unit::usd) == "$0.24");
    CHECK(text(0.87, Unit::share) == "87%");
    CHECK(text(0.2, Unit::error) == "20.0%");
    CHECK(text(0.012, Unit::change) == "+1.2%");
    CHECK(text(-0.0004, Unit::change) == "+0.0%");
    CHECK(text(0.25, Unit::ratio) == "0.25x");
    CHECK(text(Range{1, 2}, Unit::ratio) == "1.00x to 2.00x");
    CHECK(text(std::optional<double>(), Unit::usd) == "-");
    CHECK(cell_text(1e9, Unit::bytes, [](double bytes) { return std::to_string(bytes); }) ==
          "1000000000.000000");
}

TEST_CASE("table: CSV has a line of keys, all values, and quotes what separates", "[report]") {
    CHECK(to_csv(runs_table()) ==
          "name,step_s,step_5_percent_s,step_95_percent_s,device_peak_bytes,fits,note\n"
          "\"a, \"\"b\"\"\",0.25,0.2,0.3,40000000000,true,for programs\n"
          "c <&>,12.5,,,,false,for programs\n");
}

TEST_CASE("table: CSV writes numbers below the least normal one", "[report]") {
    const std::vector<double> shares = {1e-310};
    CHECK(to_csv(table_of<double>(shares, {{"share", "share", Unit::number, [](double share) {
                                                return Cell(share);
                                            }}})) == "share\n1e-310\n");
}

TEST_CASE("table: JSON keeps types; what is missing is null or left out", "[report]") {
    const auto all = to_json(runs_table());
    REQUIRE(all.size() == 2);
    CHECK(all[0]["device"]["peak_bytes"] == 40'000'000'000);
    CHECK(all[0]["step_95_percent_s"] == 0.3);
    CHECK(all[1]["step_s"] == 12.5);  // hidden from people alone
    CHECK(all[1]["fits"] == false);
    CHECK(all[1]["device"].is_null());
    CHECK(all[1]["step_5_percent_s"].is_null());
    CHECK_FALSE(to_json(runs_table(), true)[1].contains("step_5_percent_s"));
}

TEST_CASE("table: a column may be for JSON or for CSV alone", "[report]") {
    const Table table =
        table_of<Run>(kRuns, {{"a.b", "", Unit::text, &Run::name, "", Programs::json},
                              {"c.d", "", Unit::text, &Run::name, "", Programs::csv}});
    CHECK(to_csv(table).starts_with("c.d\n"));  // as it is
    CHECK(to_json(table)[1] == nlohmann::ordered_json{{"a", {{"b", "c <&>"}}}});
}

TEST_CASE("table: HTML is well-formed, with all digits for programs", "[report]") {
    const std::string html = to_html(runs_table());
    CHECK(nesting_error(html) == std::nullopt);
    CHECK_THAT(html, ContainsSubstring("<data value=\"40000000000\">40.0 GB</data>"));
    CHECK_THAT(html, ContainsSubstring("<data value=\"0.2\">200.0 ms</data> to "));
    CHECK_THAT(html, ContainsSubstring("title=\"why\"><strong>NO</strong>"));
    CHECK_THAT(html, ContainsSubstring("c &lt;&amp;&gt;"));
    CHECK(html.find("nothing") == std::string::npos);
}

TEST_CASE("table: columns are selected by key, else by title", "[report]") {
    const Table few = select(runs_table(), {"fits", "name"});
    REQUIRE(few.columns.size() == 2);
    CHECK(few.columns[0].key == "fits");
    CHECK(cell_text(few.rows[1].cells[1], Unit::text) == "c <&>");
    CHECK_THROWS_AS(select(runs_table(), {"steps"}), InternalError);
}

TEST_CASE("table: long lines of a text are broken between words, below their text", "[report]") {
    const std::string word(30, 'w'), short_line = "works        57 sequences\n";
    const std::string five = word + " " + word + " " + word + " " + word + " " + word;
    CHECK(folded(short_line) == short_line);
    CHECK(folded("fails        " + five + "\n" + short_line) ==
          "fails        " + five.substr(0, 4 * 31 - 1) + "\n             " + word + "\n" +
              short_line);
    CHECK(folded(five + " more words") == five + " more\n  words");
    const std::string one_word(200, 'w');
    CHECK(folded(one_word) == one_word);
}

TEST_CASE("table: a line is folded by characters, and a command so that a shell reads on",
          "[report]") {
    std::string umlauts;
    for (int i = 0; i < 100; ++i) umlauts += "\u00e4";
    CHECK(folded(umlauts + " word") == umlauts + " word");
    CHECK(folded(umlauts + " " + umlauts) == umlauts + "\n  " + umlauts);
    const std::string long_words(150, 'w');
    const std::string flags = "--micro-batch 8 --recompute none";
    CHECK(folded(long_words + " with " + flags + " it fits") ==
          long_words + " with\n  " + flags + " it fits");
    const std::string command = "./dev run sluice cost " + std::string(150, 'm') + " --batch 8";
    CHECK(folded("   " + command) ==
          "   ./dev run sluice cost " + std::string(150, 'm') + " \\\n     --batch 8");
    const std::string flag = " --host-memory 512GB", quoted = " --model 'a --b'";
    CHECK(folded("./dev predict" + quoted + flag + flag + flag + flag + flag + flag + flag) ==
          "./dev predict" + quoted + flag + flag + flag + flag + flag + flag + " \\\n " + flag);
    // No break within quotes, where a shell would read the \ as a letter.
    const std::string long_word = " --model '" + std::string(150, 'm') + " --b'";
    CHECK(folded("./dev predict" + long_word) == "./dev predict \\\n " + long_word);
}

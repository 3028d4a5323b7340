#include "sim/report/html.h"

#include <fmt/format.h>

#include "sim/report/svg_text.h"

namespace sluice {

std::string html_element(std::string_view tag, std::string_view text, std::string_view css_class) {
    return fmt::format("<{0}{1}>{2}</{0}>\n", tag,
                       css_class.empty() ? "" : fmt::format(" class=\"{}\"", css_class),
                       escape_xml(text));
}

std::string html_list(const std::vector<std::string>& texts) {
    if (texts.empty()) return "";
    std::string out = "<ul>\n";
    for (const std::string& text : texts) out += html_element("li", text);
    return out + "</ul>\n";
}

std::string html_page(std::string_view title, std::string_view style, std::string_view body) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\"/>"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
        "<title>{}</title><style>{}</style></head><body>\n{}</body></html>\n",
        escape_xml(title), style, body);
}

std::string_view html_table_style() {
    return "body{font-family:sans-serif;margin:24px;color:#222;background:#fff}"
           "table{border-collapse:collapse;margin:12px 0 24px;font-size:13px}"
           "th,td{padding:3px 8px;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}"
           "th{border-bottom:2px solid #888;white-space:normal;vertical-align:bottom}"
           "td.text,th.text{text-align:left}"
           "td.text{white-space:normal;overflow-wrap:anywhere}"
           ".group td{font-weight:bold;background:#f1f1f1;text-align:left}"
           ".wide{overflow-x:auto}"
           "svg{display:block;margin:0 0 24px;max-width:100%;height:auto}";
}

}  // namespace sluice

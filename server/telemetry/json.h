// Writes JSON strings: log lines and the port file.
#ifndef NORMD_SERVER_TELEMETRY_JSON_H_
#define NORMD_SERVER_TELEMETRY_JSON_H_

#include <string>
#include <string_view>

namespace normd {

// Appends `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD, control
// characters are escaped, so the result is valid JSON on one line whatever the text.
void AppendJsonString(std::string_view text, std::string& out);

}  // namespace normd

#endif  // NORMD_SERVER_TELEMETRY_JSON_H_

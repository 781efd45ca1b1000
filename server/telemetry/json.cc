#include "server/telemetry/json.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_format.h"

namespace normd {
namespace {

// Bytes of the UTF-8 sequence at the start of `text`; 0 when there is none (overlong forms,
// surrogates and values above U+10FFFF are none).
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const uint8_t second = byte(1);
  const bool allowed = !(first == 0xE0 && second < 0xA0) && !(first == 0xED && second > 0x9F) &&
                       !(first == 0xF0 && second < 0x90) && !(first == 0xF4 && second > 0x8F);
  return allowed ? length : 0;
}

void AppendAscii(char c, std::string& out) {
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7F) {
    absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned>(c));
  } else {
    out += c;
  }
}

}  // namespace

void AppendJsonString(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) {
      out += "\\ufffd";
      text.remove_prefix(1);
      continue;
    }
    if (length == 1) {
      AppendAscii(text.front(), out);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  out += '"';
}

}  // namespace normd

#include "daemon/auth/canonical_request.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace armature::daemon {
namespace {

constexpr char kHexDigits[] = "0123456789ABCDEF";

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

void AppendEscaped(std::string_view text, bool keep_slash, std::string* out) {
  for (const char c : text) {
    if (IsUnreserved(c) || (keep_slash && c == '/')) {
      out->push_back(c);
    } else {
      const auto byte = static_cast<uint8_t>(c);
      out->append({'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]});
    }
  }
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string Unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexValue(text[i + 1]);
      const int low = HexValue(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out.push_back(static_cast<char>(high * 16 + low));
        i += 2;
        continue;
      }
    }
    out.push_back(text[i]);
  }
  return out;
}

// Line breaks count: headers may be folded, and no value may pass for two lines.
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Appends `value` trimmed, each inner run of blanks as one blank.
void AppendFolded(std::string_view value, std::string* out) {
  bool blank = false;
  const size_t start = out->size();
  for (const char c : value) {
    if (IsBlank(c)) {
      blank = true;
      continue;
    }
    if (blank && out->size() > start) out->push_back(' ');
    blank = false;
    out->push_back(c);
  }
}

}  // namespace

std::string_view PathOf(std::string_view target) { return target.substr(0, target.find('?')); }

std::vector<QueryParameter> QueryOf(std::string_view target) {
  std::vector<QueryParameter> parameters;
  const size_t mark = target.find('?');
  if (mark == std::string_view::npos) return parameters;
  std::string_view rest = target.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view piece = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), piece.size() + 1));
    if (piece.empty()) continue;
    const size_t equals = piece.find('=');
    parameters.push_back({Unescaped(piece.substr(0, equals)),
                          equals == std::string_view::npos ? "" : Unescaped(piece.substr(equals + 1))});
  }
  return parameters;
}

std::string CanonicalPath(std::string_view path) {
  std::vector<std::string_view> segments;
  bool ends_in_slash = true;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    path.remove_prefix(std::min(path.size(), segment.size() + 1));
    ends_in_slash = slash != std::string_view::npos || segment == "." || segment == "..";
    if (segment == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (!segment.empty() && segment != ".") {
      segments.push_back(segment);
    }
  }
  std::string out;
  for (const std::string_view segment : segments) {
    out.push_back('/');
    AppendEscaped(segment, /*keep_slash=*/true, &out);
  }
  if (ends_in_slash || segments.empty()) out.push_back('/');
  return out;
}

std::string CanonicalQuery(const std::vector<QueryParameter>& parameters) {
  std::vector<std::pair<std::string, std::string>> escaped;
  escaped.reserve(parameters.size());
  for (const QueryParameter& parameter : parameters) {
    if (parameter.name == "X-Amz-Signature") continue;
    auto& [name, value] = escaped.emplace_back();
    AppendEscaped(parameter.name, /*keep_slash=*/false, &name);
    AppendEscaped(parameter.value, /*keep_slash=*/false, &value);
  }
  std::sort(escaped.begin(), escaped.end());
  std::string out;
  for (const auto& [name, value] : escaped) {
    if (!out.empty()) out.push_back('&');
    out.append(name).append("=").append(value);
  }
  return out;
}

bool AppendCanonicalHeaders(const HttpRequest& request, const std::vector<std::string_view>& names, std::string* out) {
  // Sorted once, so that the cost stays low with many headers and many names.
  std::vector<const HttpRequest::Header*> headers;
  headers.reserve(request.headers.size());
  for (const HttpRequest::Header& header : request.headers) headers.push_back(&header);
  std::stable_sort(headers.begin(), headers.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  auto next = headers.begin();
  for (const std::string_view name : names) {
    while (next != headers.end() && (*next)->name < name) ++next;
    if (next == headers.end() || (*next)->name != name) return false;
    out->append(name).push_back(':');
    AppendFolded((*next)->value, out);
    while (++next != headers.end() && (*next)->name == name) {
      out->push_back(',');
      AppendFolded((*next)->value, out);
    }
    out->push_back('\n');
  }
  return true;
}

}  // namespace armature::daemon

#include "daemon/auth/sigv4_fields.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/time/civil_time.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kAnyVersion4 = "AWS4-";

// The only value of a part. A repeated part counts as missing, because choosing either value would be unsafe.
class OnceOnly {
 public:
  void Set(std::string_view value) {
    twice_ = twice_ || value_.has_value();
    value_ = std::string(value);
  }
  bool missing() const { return twice_ || !value_.has_value() || value_->empty(); }
  std::string value() const { return value_.value_or(""); }

 private:
  std::optional<std::string> value_;
  bool twice_ = false;
};

bool IsSeparator(char c) { return c == ' ' || c == ','; }

// The text before the next separator. std::string_view::find_first_of is slow for so short a set.
std::string_view FirstWord(std::string_view text) {
  return text.substr(0, static_cast<size_t>(std::find_if(text.begin(), text.end(), IsSeparator) - text.begin()));
}

std::string_view Trimmed(std::string_view text) {
  const size_t start = text.find_first_not_of(' ');
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(' ') - start + 1);
}

// `Algorithm Credential=..., SignedHeaders=..., Signature=...`; the parts are separated by commas, blanks, or both.
absl::StatusOr<SigV4Fields> FromHeader(const HttpRequest& request, std::string_view header) {
  SigV4Fields fields;
  std::string_view rest = Trimmed(header);
  fields.algorithm = std::string(FirstWord(rest));
  rest.remove_prefix(fields.algorithm.size());

  std::array<std::pair<std::string_view, OnceOnly>, 3> parts = {
      {{"Credential", {}}, {"Signature", {}}, {"SignedHeaders", {}}}};
  while (!rest.empty()) {
    const std::string_view piece = FirstWord(rest);
    rest.remove_prefix(std::min(rest.size(), piece.size() + 1));
    const size_t equals = piece.find('=');
    if (equals == std::string_view::npos) continue;
    for (auto& [name, part] : parts) {
      if (piece.substr(0, equals) == name) part.Set(piece.substr(equals + 1));
    }
  }
  std::string missing;
  for (const auto& [name, part] : parts) {
    if (part.missing()) missing += Cat("Authorization header requires '", name, "' parameter. ");
  }
  const std::string* date = request.Find("x-amz-date");
  if (date == nullptr || date->empty()) date = request.Find("date");
  if (date == nullptr || date->empty()) {
    missing += "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ";
  }
  if (!missing.empty()) return IncompleteSignatureError(Cat(missing, "Authorization=", header));
  fields.credential = parts[0].second.value();
  fields.signature = parts[1].second.value();
  fields.signed_headers = parts[2].second.value();
  fields.date = *date;
  return fields;
}

absl::StatusOr<SigV4Fields> FromQuery(const std::vector<QueryParameter>& query) {
  std::array<std::pair<std::string_view, OnceOnly>, 5> parts = {{{"X-Amz-Algorithm", {}},
                                                                 {"X-Amz-Credential", {}},
                                                                 {"X-Amz-Signature", {}},
                                                                 {"X-Amz-SignedHeaders", {}},
                                                                 {"X-Amz-Date", {}}}};
  SigV4Fields fields;
  for (const QueryParameter& parameter : query) {
    for (auto& [name, part] : parts) {
      if (parameter.name == name) part.Set(parameter.value);
    }
    if (parameter.name == "X-Amz-Expires") fields.expires = parameter.value;
  }
  std::string missing;
  for (const auto& [name, part] : parts) {
    if (part.missing()) missing += Cat("AWS query-string parameters must include '", name, "'. ");
  }
  if (!missing.empty()) return IncompleteSignatureError(Cat(missing, "Re-examine the query-string parameters."));
  fields.algorithm = parts[0].second.value();
  fields.credential = parts[1].second.value();
  fields.signature = parts[2].second.value();
  fields.signed_headers = parts[3].second.value();
  fields.date = parts[4].second.value();
  return fields;
}

}  // namespace

absl::StatusOr<SigV4Fields> ReadSigV4Fields(const HttpRequest& request) {
  const std::string* const header = request.Find("authorization");
  std::vector<QueryParameter> query = QueryOf(request.target);
  const bool in_query = std::any_of(query.begin(), query.end(),
                                    [](const QueryParameter& each) { return each.name == "X-Amz-Algorithm"; });
  if (header != nullptr && in_query) {
    return InvalidSignatureError(
        "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.");
  }
  if (header == nullptr && !in_query) return MissingAuthenticationTokenError();
  if (header != nullptr && !Trimmed(*header).starts_with(kAnyVersion4)) return MissingAuthenticationTokenError();
  absl::StatusOr<SigV4Fields> fields = in_query ? FromQuery(query) : FromHeader(request, *header);
  if (fields.ok()) fields->query = std::move(query);
  return fields;
}

std::optional<absl::Time> ParseBasicTime(std::string_view text) {
  constexpr std::string_view kForm = "YYYYMMDDThhmmssZ";
  if (text.size() != kForm.size() || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
  const auto number = [text](size_t start, size_t length) {
    int value = 0;
    for (const char c : text.substr(start, length)) {
      if (c < '0' || c > '9') return -1;
      value = value * 10 + (c - '0');
    }
    return value;
  };
  const int year = number(0, 4);
  const int month = number(4, 2);
  const int day = number(6, 2);
  const int hour = number(9, 2);
  const int minute = number(11, 2);
  const int second = number(13, 2);
  if (std::min({year, month, day, hour, minute, second}) < 0) return std::nullopt;
  const absl::CivilSecond civil(year, month, day, hour, minute, second);
  const bool real = civil.month() == month && civil.day() == day && civil.hour() == hour && civil.minute() == minute &&
                    civil.second() == second;
  if (!real) return std::nullopt;
  return absl::FromCivil(civil, absl::UTCTimeZone());
}

std::string FormatBasicTime(absl::Time time) { return absl::FormatTime("%Y%m%dT%H%M%SZ", time, absl::UTCTimeZone()); }

}  // namespace armature::daemon

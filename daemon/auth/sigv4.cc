#include "daemon/auth/sigv4.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/time/civil_time.h"
#include "daemon/auth/canonical_request.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kTerminator = "aws4_request";
constexpr std::string_view kWrongSignature =
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key "
    "and signing method. Consult the service documentation for details.";
// "20150830"
constexpr size_t kDayLength = 8;

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool LooksLikeRegion(std::string_view region) {
  constexpr size_t kLengthMax = 64;
  return !region.empty() && region.size() <= kLengthMax && std::all_of(region.begin(), region.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

absl::Status CheckSignedHeaders(const HttpRequest& request, const std::vector<std::string_view>& names) {
  const auto is_signed = [&names](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (!is_signed("host")) {
    return InvalidSignatureError("'Host' must be a 'SignedHeader' in the AWS Authorization.");
  }
  if (request.Find("x-amz-target") != nullptr && !is_signed("x-amz-target")) {
    return InvalidSignatureError("'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization.");
  }
  return absl::OkStatus();
}

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

struct SigV4Verifier::Fields : SigV4Fields {
  absl::Time time;
  std::vector<std::string_view> header_names;
};

struct SigV4Verifier::Scope {
  std::string_view key_id;
  std::string_view day;
  std::string_view region;
  std::string_view service;
  std::string_view terminator;
};

absl::Status SigV4Verifier::CheckTime(const Fields& fields, absl::Time now) const {
  const int64_t window_minutes = absl::ToInt64Minutes(options_.window);
  absl::Duration age_max = options_.window;
  std::optional<int64_t> expires_seconds;
  if (fields.expires.has_value()) {
    constexpr int64_t kSecondsMax = 604'800;  // documented: seven days
    int64_t seconds = 0;
    if (!absl::SimpleAtoi(*fields.expires, &seconds) || seconds < 1 || seconds > kSecondsMax) {
      return IncompleteSignatureError(Cat("X-Amz-Expires must be a number of seconds between 1 and ", kSecondsMax,
                                          ". Re-examine the query-string parameters."));
    }
    if (absl::Seconds(seconds) < age_max) {
      age_max = absl::Seconds(seconds);
      expires_seconds = seconds;
    }
  }
  if (fields.time < now - age_max) {
    const std::string age_text =
        expires_seconds.has_value() ? Cat(*expires_seconds, " sec.") : Cat(window_minutes, " min.");
    return InvalidSignatureError(Cat("Signature expired: ", fields.date, " is now earlier than ",
                                     FormatBasicTime(now - age_max), " (", FormatBasicTime(now), " - ", age_text, ")"));
  }
  if (fields.time > now + options_.window) {
    return InvalidSignatureError(Cat("Signature not yet current: ", fields.date, " is still later than ",
                                     FormatBasicTime(now + options_.window), " (", FormatBasicTime(now), " + ",
                                     window_minutes, " min.)"));
  }
  return absl::OkStatus();
}

absl::Status SigV4Verifier::CheckScope(const Fields& fields, const Scope& scope) const {
  std::vector<std::string> faults;
  if (options_.region.empty() ? !LooksLikeRegion(scope.region) : scope.region != options_.region) {
    faults.emplace_back("Credential should be scoped to a valid region. ");
  }
  if (scope.service != options_.service) {
    faults.push_back(Cat("Credential should be scoped to correct service: '", options_.service, "'. "));
  }
  if (scope.terminator != kTerminator) {
    faults.push_back(
        Cat("Credential should be scoped with a valid terminator: 'aws4_request', not '", scope.terminator, "'. "));
  }
  const std::string_view day = std::string_view(fields.date).substr(0, kDayLength);
  if (scope.day != day) {
    faults.push_back(Cat("Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '",
                         scope.day, "' != '", day, "', from '", fields.date, "'."));
  }
  if (faults.empty()) return absl::OkStatus();
  std::string text;
  for (const std::string& fault : faults) text += fault;
  return InvalidSignatureError(text);
}

bool SigV4Verifier::SignatureIsRight(const HttpRequest& request, const Fields& fields, const Scope& scope,
                                     const std::string& secret) const {
  const std::vector<std::string_view>& names = fields.header_names;
  if (std::adjacent_find(names.begin(), names.end(), std::greater_equal<>()) != names.end()) return false;
  const std::string body_hash = Hex(Sha256(request.body));
  const std::string* const claimed_hash = request.Find("x-amz-content-sha256");
  if (claimed_hash != nullptr && *claimed_hash != body_hash) return false;

  std::string canonical =
      Cat(request.method, "\n", CanonicalPath(PathOf(request.target)), "\n", CanonicalQuery(fields.query), "\n");
  if (!AppendCanonicalHeaders(request, names, &canonical)) return false;
  canonical.append("\n").append(fields.signed_headers).append("\n").append(body_hash);
  const std::string_view scope_text = std::string_view(fields.credential).substr(scope.key_id.size() + 1);
  const std::string to_sign = Cat(kAlgorithm, "\n", fields.date, "\n", scope_text, "\n", Hex(Sha256(canonical)));

  std::optional<Sha256Digest> key;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = signing_keys_.find(std::string_view(fields.credential));
    if (found != signing_keys_.end()) key = found->second;
  }
  const bool is_new = !key.has_value();
  if (is_new) {
    key = HmacSha256(Cat("AWS4", secret), scope.day);
    for (const std::string_view part : {scope.region, scope.service, scope.terminator}) {
      key = HmacSha256(BytesOf(*key), part);
    }
  }
  if (!EqualInConstantTime(Hex(HmacSha256(BytesOf(*key), to_sign)), fields.signature)) return false;
  if (is_new) {
    // Only keys of verified signatures are cached, so that strangers cannot evict them.
    absl::MutexLock lock(&mutex_);
    if (signing_keys_.size() >= kSigningKeysMax) signing_keys_.clear();
    signing_keys_.emplace(fields.credential, *key);
  }
  return true;
}

SigV4Outcome SigV4Verifier::Verify(const HttpRequest& request, absl::Time now, SecretOf secret_of) const {
  absl::StatusOr<SigV4Fields> read = ReadSigV4Fields(request);
  if (!read.ok()) {
    const bool missing = GetApiError(read.status())->type == ApiErrorType::kMissingAuthenticationToken;
    return {read.status(), missing ? AuthFailure::kMissing : AuthFailure::kMalformed, ""};
  }
  Fields fields{*std::move(read), {}, {}};
  fields.header_names = Split(fields.signed_headers, ';');
  const std::optional<absl::Time> time = ParseBasicTime(fields.date);
  if (!time.has_value()) {
    return {IncompleteSignatureError(Cat("Date must be in ISO-8601 'basic format'. Got '", fields.date,
                                         "'. See http://en.wikipedia.org/wiki/ISO_8601")),
            AuthFailure::kMalformed, ""};
  }
  fields.time = *time;
  if (const absl::Status status = CheckTime(fields, now); !status.ok()) {
    return {status, AuthFailure::kOutsideWindow, ""};
  }
  if (const absl::Status status = CheckSignedHeaders(request, fields.header_names); !status.ok()) {
    return {status, AuthFailure::kMalformed, ""};
  }
  if (fields.algorithm != kAlgorithm) {
    return {IncompleteSignatureError(
                Cat("Unsupported AWS 'algorithm': '", fields.algorithm, "' (only AWS4-HMAC-SHA256 for now). ")),
            AuthFailure::kMalformed, ""};
  }
  const std::vector<std::string_view> parts = Split(fields.credential, '/');
  if (parts.size() != 5) {
    return {IncompleteSignatureError(Cat("Credential must have exactly 5 slash-delimited elements, e.g. "
                                         "keyid/date/region/service/term, got '",
                                         fields.credential, "'")),
            AuthFailure::kMalformed, ""};
  }
  const Scope scope{parts[0], parts[1], parts[2], parts[3], parts[4]};
  std::string key_id(scope.key_id);
  if (const absl::Status status = CheckScope(fields, scope); !status.ok()) {
    return {status, AuthFailure::kWrongScope, std::move(key_id)};
  }
  const std::string* const secret = secret_of(scope.key_id);
  if (secret == nullptr) return {UnrecognizedClientError(), AuthFailure::kUnknownKey, std::move(key_id)};
  if (!SignatureIsRight(request, fields, scope, *secret)) {
    return {InvalidSignatureError(kWrongSignature), AuthFailure::kWrongSignature, std::move(key_id)};
  }
  return {absl::OkStatus(), AuthFailure::kMissing, std::move(key_id)};
}

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

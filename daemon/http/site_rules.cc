#include "daemon/http/site_rules.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "glog/logging.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigits = "0123456789";
constexpr std::array<std::string_view, 4> kLoopbackNames = {"localhost", "localhost.localdomain", "ip6-localhost",
                                                            "ip6-loopback"};
// Limit on the text of a client in a refusal.
constexpr size_t kQuotedBytesMax = 256;

bool EqualNames(std::string_view a, std::string_view b) { return absl::EqualsIgnoreCase(Av(a), Av(b)); }

bool ConsistsOf(std::string_view text, std::initializer_list<std::string_view> alphabets) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    const char lower = absl::ascii_tolower(static_cast<unsigned char>(c));
    return std::any_of(alphabets.begin(), alphabets.end(),
                       [lower](std::string_view alphabet) { return alphabet.find(lower) != std::string_view::npos; });
  });
}

// "db.test" of "db.test:7701" and "db.test."; "::1" of "[::1]:7701".
std::string_view HostOf(std::string_view address) {
  if (address.starts_with('[')) return address.substr(1, address.find(']') - 1);
  address = address.substr(0, address.find(':'));
  if (address.ends_with('.')) address.remove_suffix(1);
  return address;
}

bool IsIpAddress(std::string_view host) {
  const std::string text(host.substr(0, host.find('%')));  // without the zone of a link-local address
  in6_addr address;
  return inet_pton(AF_INET, text.c_str(), &address) == 1 || inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool IsLoopbackName(std::string_view host) {
  const auto is_host = [host](std::string_view name) { return EqualNames(host, name); };
  // Resolvers take all names below localhost for loopback (RFC 6761).
  return std::any_of(kLoopbackNames.begin(), kLoopbackNames.end(), is_host) ||
         absl::EndsWithIgnoreCase(Av(host), ".localhost");
}

// Text of a client that is fit for messages, JSON strings and logs.
std::string Quotable(std::string_view text) {
  std::string quoted(text.substr(0, kQuotedBytesMax));
  for (char& c : quoted) {
    if (!ConsistsOf({&c, 1}, {kLetters, kDigits, ".-_:/[]+"})) c = '?';
  }
  return quoted;
}

}  // namespace

SiteRules::SiteRules(SiteRulesOptions options) : options_(std::move(options)) {}

bool SiteRules::AcceptsHost(std::string_view header) const {
  const std::string_view host = HostOf(header);
  const auto is_host = [host](std::string_view name) { return EqualNames(host, name); };
  return IsIpAddress(host) || IsLoopbackName(host) || is_host(HostOf(options_.listen)) ||
         std::any_of(options_.hosts.begin(), options_.hosts.end(), is_host);
}

std::string SiteRules::Refusal(const HttpRequest& request, const std::string** origin) const {
  // HTTP/1.0 permits requests without Host; browsers always send it.
  const std::string* const host = request.Find("host");
  if (options_.checks_host && host != nullptr && !host->empty() && !AcceptsHost(*host)) {
    const std::string name = Quotable(HostOf(*host));
    return Cat("The server does not accept requests to the host name ", name,
               ". If it is a name of this server, start armatured with --http_hosts=", name);
  }
  if (const std::string* const sender = request.Find("origin")) {
    const auto listed = std::find(options_.origins.begin(), options_.origins.end(), *sender);
    if (listed != options_.origins.end()) {
      *origin = &*listed;
      return {};
    }
    // A page of the same host by the other scheme may come from anybody on the way.
    const bool is_own =
        host != nullptr && !host->empty() && EqualNames(*sender, Cat(options_.is_tls ? "https://" : "http://", *host));
    if (!is_own) {
      const std::optional<std::string> parsed = ParseOrigin(*sender);
      return Cat("The server does not accept requests from web pages of ", Quotable(*sender),
                 parsed.has_value() ? ". To permit them, start armatured with --cors_origins=" : "; see --cors_origins",
                 parsed.value_or(""));
    }
  }
  const std::string* const site = request.Find("sec-fetch-site");
  if (site == nullptr || *site == "same-origin" || *site == "none") return {};
  return "The server does not accept requests from web pages of other sites; see --cors_origins of armatured";
}

SiteRules::Verdict SiteRules::Check(const HttpRequest& request) const {
  Verdict verdict;
  verdict.refusal = Refusal(request, &verdict.origin);
  if (!verdict.refusal.empty()) {
    LOG_EVERY_N(WARNING, 100) << "http: refused peer=" << request.peer << ": " << verdict.refusal;
  }
  return verdict;
}

std::optional<std::string> ParseOrigin(std::string_view text) {
  std::string origin = absl::AsciiStrToLower(Av(text));
  const size_t scheme_bytes = origin.find("://");
  if (scheme_bytes == std::string::npos || scheme_bytes == 0) return std::nullopt;
  const std::string_view scheme = std::string_view(origin).substr(0, scheme_bytes);
  const std::string_view address = std::string_view(origin).substr(scheme_bytes + 3);
  if (!ConsistsOf(scheme, {kLetters, kDigits, "+-."}) || HostOf(address).empty() ||
      !ConsistsOf(address, {kLetters, kDigits, ".-_:[]"})) {
    return std::nullopt;
  }
  const std::string_view default_port = scheme == "http" ? ":80" : scheme == "https" ? ":443" : "";
  if (!default_port.empty() && address.ends_with(default_port)) origin.resize(origin.size() - default_port.size());
  return origin;
}

std::optional<std::string> ParseHostName(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.empty() || !ConsistsOf(text, {kLetters, kDigits, "-_."})) return std::nullopt;
  return absl::AsciiStrToLower(Av(text));
}

std::string OwnHostName() {
  std::array<char, 256> name = {};
  if (gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

}  // namespace armature::daemon

#ifndef ARMATURE_DAEMON_HTTP_SITE_RULES_H_
#define ARMATURE_DAEMON_HTTP_SITE_RULES_H_

// Web pages that may send requests, and host names that requests may carry.
//
// A web page of any site can send requests to each server that its visitor's browser reaches, also on loopback. The
// browser states the page's site in the headers Origin and Sec-Fetch-Site. If the page's own host name resolves to our
// address (DNS rebinding), the browser takes us for the page's site, but the header Host carries that name.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/http_message.h"

namespace armature::daemon {

struct SiteRulesOptions {
  std::string listen = {};                // HOST:PORT of the listener; its host is accepted
  std::vector<std::string> hosts = {};    // further accepted host names, as ParseHostName returns them
  std::vector<std::string> origins = {};  // sites whose pages may send requests, as ParseOrigin returns them
  bool is_tls = false;                    // scheme of our own pages
  // False if all operations need a signature: it covers Host, and a web page cannot make one.
  bool checks_host = true;
};

// Thread-safety: immutable.
class SiteRules {
 public:
  struct Verdict {
    std::string refusal = {};             // reason that names the flag which permits the request; empty: admitted
    const std::string* origin = nullptr;  // permitted site that sent the request, or null; lives as long as the rules
  };

  // Accepts loopback names and IP addresses as hosts, and web pages of no other site.
  SiteRules() = default;
  explicit SiteRules(SiteRulesOptions options);

  // Requests without Origin and Sec-Fetch-Site, such as those of SDKs and command lines, need only an accepted Host.
  // Logs some of the refusals.
  Verdict Check(const HttpRequest& request) const;

 private:
  bool AcceptsHost(std::string_view header) const;
  std::string Refusal(const HttpRequest& request, const std::string** origin) const;

  SiteRulesOptions options_;
};

// "HTTPS://App.example.org:443" as browsers send it: "https://app.example.org". Nullopt unless it is scheme://host or
// scheme://host:port.
std::optional<std::string> ParseOrigin(std::string_view text);

// A host name without port, in lower case. Nullopt if it has other characters than letters, digits, '-', '_' and '.'.
std::optional<std::string> ParseHostName(std::string_view text);

// The name of this machine, or empty.
std::string OwnHostName();

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_SITE_RULES_H_

#include "daemon/http/site_rules.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace armature::daemon::site_rules_test {

using testing::HasSubstr;

HttpRequest Request(std::vector<HttpRequest::Header> headers) {
  return {.method = "POST", .target = "/", .headers = std::move(headers), .body = {}, .peer = {}};
}

std::string RefusalOf(const SiteRules& rules, std::vector<HttpRequest::Header> headers) {
  return rules.Check(Request(std::move(headers))).refusal;
}

TEST(SiteRules, AcceptsAddressesAndLoopbackNamesAsHosts) {
  const SiteRules rules(SiteRulesOptions{.listen = "db.test:7701", .hosts = {"more.test", "machine"}});
  for (const char* host : {"127.0.0.1:7701", "127.0.0.1", "10.0.0.7:80", "[::1]:7701", "[::1]", "[fe80::1%25eth0]:1",
                           "localhost:9", "LOCALHOST", "localhost.", "tables.localhost:7701", "ip6-localhost",
                           "db.test", "DB.test:1", "db.test.:1", "more.test:7701", "machine", ""}) {
    EXPECT_EQ(RefusalOf(rules, {{"host", host}}), "") << host;
  }
  EXPECT_EQ(RefusalOf(rules, {}), "");
}

TEST(SiteRules, RefusesOtherHostsAndNamesTheFlag) {
  const SiteRules rules(SiteRulesOptions{.listen = "127.0.0.1:7701", .hosts = {"db.test"}});
  for (const char* host : {"evil.test", "evil.test:7701", "x.db.test", "db.test.evil.test", "127.0.0.1.evil.test",
                           "localhost.evil.test", "notlocalhost", "1.2.3", "[evil.test]", "a:b"}) {
    EXPECT_THAT(RefusalOf(rules, {{"host", host}}), HasSubstr("--http_hosts=")) << host;
  }
  EXPECT_EQ(RefusalOf(SiteRules(), {{"host", "evil.test:7701"}}),
            "The server does not accept requests to the host name evil.test. If it is a name of this server, start "
            "armatured with --http_hosts=evil.test");
  EXPECT_THAT(RefusalOf(SiteRules(), {{"host", "\"}\n<\x80"}}), HasSubstr("host name ?????. If"));
}

TEST(SiteRules, SignedRequestsMayNameAnyHost) {
  const SiteRules rules(SiteRulesOptions{.checks_host = false});
  EXPECT_EQ(RefusalOf(rules, {{"host", "db.example.org"}}), "");
  EXPECT_THAT(RefusalOf(rules, {{"host", "db.example.org"}, {"origin", "https://evil.test"}}),
              HasSubstr("--cors_origins=https://evil.test"));
}

TEST(SiteRules, RefusesPagesOfOtherSites) {
  const SiteRules rules(SiteRulesOptions{.origins = {"https://app.test", "http://localhost:3000"}});
  for (const char* origin : {"https://evil.test", "http://app.test", "https://app.test:8443", "http://localhost:3001",
                             "http://localhost", "null", "", "app.test", "://localhost:7701x"}) {
    EXPECT_THAT(RefusalOf(rules, {{"host", "localhost:7701"}, {"origin", origin}}), HasSubstr("--cors_origins"))
        << origin;
  }
  EXPECT_EQ(RefusalOf(rules, {{"origin", "https://evil.test"}}),
            "The server does not accept requests from web pages of https://evil.test. To permit them, start armatured "
            "with --cors_origins=https://evil.test");
  EXPECT_EQ(RefusalOf(rules, {{"origin", "null"}}),
            "The server does not accept requests from web pages of null; see --cors_origins");
  for (const char* site : {"cross-site", "same-site", "", "unknown"}) {
    EXPECT_THAT(RefusalOf(rules, {{"host", "localhost:7701"}, {"sec-fetch-site", site}}), HasSubstr("--cors_origins"))
        << site;
  }
}

TEST(SiteRules, PermitsListedSitesAndItself) {
  const SiteRules rules(SiteRulesOptions{.origins = {"https://app.test", "http://localhost:3000"}});
  const HttpRequest listed =
      Request({{"host", "localhost:7701"}, {"origin", "http://localhost:3000"}, {"sec-fetch-site", "same-site"}});
  const SiteRules::Verdict verdict = rules.Check(listed);
  EXPECT_EQ(verdict.refusal, "");
  ASSERT_NE(verdict.origin, nullptr);
  EXPECT_EQ(*verdict.origin, "http://localhost:3000");
  const HttpRequest own =
      Request({{"host", "localhost:7701"}, {"origin", "http://localhost:7701"}, {"sec-fetch-site", "same-origin"}});
  EXPECT_EQ(rules.Check(own).refusal, "");
  EXPECT_EQ(rules.Check(own).origin, nullptr);
  EXPECT_EQ(RefusalOf(rules, {{"host", "localhost:7701"}, {"sec-fetch-site", "none"}}), "");
  // A page by the other scheme is not our own.
  EXPECT_THAT(RefusalOf(SiteRules(), {{"host", "localhost:7701"}, {"origin", "https://localhost:7701"}}),
              HasSubstr("--cors_origins"));
  const SiteRules secure(SiteRulesOptions{.is_tls = true});
  EXPECT_EQ(RefusalOf(secure, {{"host", "localhost:7701"}, {"origin", "https://localhost:7701"}}), "");
  EXPECT_THAT(RefusalOf(secure, {{"host", "localhost:7701"}, {"origin", "http://localhost:7701"}}),
              HasSubstr("--cors_origins"));
}

TEST(SiteRules, OriginsAreReadAsBrowsersSendThem) {
  for (const auto& [text, origin] : {std::pair("https://app.test", "https://app.test"),
                                     {"HTTPS://App.Test:443", "https://app.test"},
                                     {"http://app.test:80", "http://app.test"},
                                     {"https://app.test:80", "https://app.test:80"},
                                     {"http://[::1]:3000", "http://[::1]:3000"},
                                     {"chrome-extension://abcdef", "chrome-extension://abcdef"}}) {
    EXPECT_EQ(ParseOrigin(text), origin) << text;
  }
  for (const char* text : {"", "*", "null", "app.test", "https://", "https://app.test/", "https://app.test/path",
                           "://app.test", "https://user@app.test", "https://a b", "https://:80"}) {
    EXPECT_EQ(ParseOrigin(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseHostName("DB.Example.org."), "db.example.org");
  for (const char* text : {"", ".", "*", "db:7701", "http://db", "a b"})
    EXPECT_EQ(ParseHostName(text), std::nullopt) << text;
}

}  // namespace armature::daemon::site_rules_test

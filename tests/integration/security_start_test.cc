// Start of a secured daemon, and SIGHUP.

#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/str_split.h"
#include "armature/client/table_export.h"
#include "storage/base/strings.h"
#include "tests/support/daemon_test.h"
#include "tests/support/raw_http_client.h"
#include "tests/support/security_files.h"

namespace armature::test::security_start_test {

using client::Client;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr absl::Duration kWaitMax = absl::Seconds(30);

// Polls `condition` until it holds.
template <class Condition>
bool Eventually(Condition condition) {
  const absl::Time give_up = absl::Now() + kWaitMax;
  while (!condition()) {
    if (absl::Now() > give_up) return false;
    std::this_thread::yield();
  }
  return true;
}

std::string NewKey(std::string_view id) {
  return Cat(R"({"id": ")", id, R"(", "secret": ")", SecurityFiles::kRootSecret, R"(", "policy": "root"})");
}

class ReloadTest : public testing::Test {
 protected:
  ReloadTest() : daemon_(files_.Flags(), files_.WithKey("AKROOT")) {}

  bool Works(const client::ClientOptions& options) const { return daemon_.ConnectWith(options).ListTables({}).ok(); }

  SecurityFiles files_;
  DaemonProcess daemon_;
};

TEST_F(ReloadTest, CredentialsAndCertificatesChangeUnderRunningCalls) {
  std::atomic<bool> stop = false;
  std::atomic<int> calls = 0;
  std::atomic<int> failures = 0;
  std::thread caller([&] {
    while (!stop) {
      if (!daemon_.client().ListTables({}).ok()) ++failures;
      ++calls;
    }
  });
  const TestAuthority next("Next authority");
  EXPECT_FALSE(Works(files_.WithKey("AKNEW")));
  EXPECT_FALSE(Works(SecurityFiles::WithKey(next, "AKROOT")));

  const CertificateAndKey server = next.Issue("armatured", {"IP:127.0.0.1"});
  files_.Write("server.pem", server.certificate_pem);
  files_.Write("server.key", server.key_pem);
  files_.WriteCredentials({NewKey("AKNEW")});
  daemon_.Hangup();
  EXPECT_TRUE(Eventually([&] { return Works(SecurityFiles::WithKey(next, "AKNEW")); }));
  EXPECT_FALSE(Works(files_.WithKey("AKROOT"))) << "new connections get the new certificate";

  const int before = calls;
  EXPECT_TRUE(Eventually([&] { return calls > before + 10; })) << "the old connection goes on";
  stop = true;
  caller.join();
  EXPECT_EQ(failures, 0);
}

TEST_F(ReloadTest, AKeyThatIsGoneEndsWithItsNextCall) {
  files_.WriteCredentials({NewKey("AKGUEST")});
  daemon_.Hangup();
  const Client guest = daemon_.ConnectWith(files_.WithKey("AKGUEST"));
  EXPECT_TRUE(Eventually([&] { return guest.ListTables({}).ok(); }));
  files_.WriteCredentials({});
  daemon_.Hangup();
  EXPECT_TRUE(Eventually([&] { return !guest.ListTables({}).ok(); }));
  EXPECT_EQ(client::ErrorName(guest.ListTables({}).status()), "UnrecognizedClientException");
  EXPECT_TRUE(Works(files_.WithKey("AKROOT")));
}

TEST_F(ReloadTest, BadFilesChangeNothing) {
  files_.Write("credentials.json", "{");
  files_.Write("server.key", "no key");
  daemon_.Hangup();
  const auto logged = [&](std::string_view text) {
    return Eventually([&] { return daemon_.ReadStderr().find(text) != std::string::npos; });
  };
  EXPECT_TRUE(logged(Cat("credentials are not read: ", files_.Path("credentials.json"), ": is not JSON: ")));
  EXPECT_TRUE(logged(Cat("the certificate is not read: ", files_.Path("server.key"),
                         ": holds no private key in PEM form without a password")));
  EXPECT_TRUE(Works(files_.WithKey("AKROOT")));
}

// HTTP would refuse it, and gRPC would take it.
TEST_F(ReloadTest, ADamagedIntermediateCertificateChangesNothing) {
  const TestAuthority next("Next authority");
  const CertificateAndKey server = next.Issue("armatured", {"IP:127.0.0.1"});
  files_.Write("server.pem",
               Cat(server.certificate_pem, "-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n"));
  files_.Write("server.key", server.key_pem);
  daemon_.Hangup();
  EXPECT_TRUE(Eventually([&] {
    return daemon_.ReadStderr().find("holds no certificate in PEM form, or a damaged one") != std::string::npos;
  }));
  EXPECT_TRUE(Works(files_.WithKey("AKROOT")));
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  // Removes the parts that differ between runs.
  for (std::string& line : lines) {
    line = line.substr(line.find("\"principal\""));
    const size_t peer = line.find("\"peer\":\"127.0.0.1:");
    if (peer != std::string::npos) line.erase(peer, line.find("\"operation\"") - peer);
  }
  return lines;
}

TEST(AuditLog, HasALineForEachOperationOnTablesAndForEachOfTheAdminService) {
  const SecurityFiles files;
  std::vector<std::string> flags = files.Flags();
  flags.push_back("--audit_log=" + files.Path("audit"));
  DaemonProcess daemon(flags, files.WithKey("AKROOT"));
  const auto as = [&](std::string_view id) { return daemon.ConnectWith(files.WithKey(id)); };

  EXPECT_FALSE(
      as("AKREADER").CreateTable(FromJson<api::v1::CreateTableRequest>(R"({"TableName": "or\"ders\n"})")).ok());
  EXPECT_FALSE(as("").ListTables({}).ok());
  EXPECT_FALSE(daemon.client().DescribeTable(FromJson<api::v1::DescribeTableRequest>(R"({"TableName": "none"})")).ok());
  EXPECT_TRUE(daemon.client().GetServerInfo({}).ok());
  EXPECT_TRUE(daemon.client().Echo({}).ok());
  EXPECT_FALSE(daemon.client().GetItem({}).ok());
  admin::v1::ExportTableRequest none;
  none.set_table_name("none");
  EXPECT_FALSE(daemon.client().ExportTable(none).ok());
  EXPECT_FALSE(as("AKREADER").ExportTable(none).ok());
  EXPECT_FALSE(as("AKNOBODY").ExportTable(none).ok());
  EXPECT_TRUE(Eventually([&] { return Lines(files.Read("audit")).size() == 7; }));

  // Moves the file away, like logrotate.
  std::filesystem::rename(files.Path("audit"), files.Path("audit.1"));
  daemon.Hangup();
  EXPECT_TRUE(Eventually([&] { return std::filesystem::exists(files.Path("audit")); }));
  EXPECT_TRUE(daemon.client().ListTables({}).ok());
  EXPECT_EQ(daemon.Stop(), 0);

  EXPECT_THAT(
      Lines(files.Read("audit.1")),
      ElementsAre(
          R"("principal":"AKREADER","operation":"CreateTable","table":"or\"ders?","result":"AccessDeniedException"})",
          R"("principal":"","operation":"ListTables","table":"","result":"MissingAuthenticationTokenException"})",
          R"("principal":"AKROOT","operation":"DescribeTable","table":"none","result":"ResourceNotFoundException"})",
          R"("principal":"AKROOT","operation":"admin:GetServerInfo","table":"","result":"OK"})",
          R"("principal":"AKROOT","operation":"admin:ExportTable","table":"none","result":"ResourceNotFoundException"})",
          R"("principal":"AKREADER","operation":"admin:ExportTable","table":"none","result":"AccessDeniedException"})",
          R"("principal":"","operation":"admin:ExportTable","table":"","result":"UnrecognizedClientException"})"));
  EXPECT_THAT(Lines(files.Read("audit")),
              ElementsAre(R"("principal":"AKROOT","operation":"ListTables","table":"","result":"OK"})"));
  EXPECT_THAT(files.Read("audit"), testing::MatchesRegex(R"(\{"time":"2[0-9T:.-]+Z",.*\}.)"));
  EXPECT_EQ(std::filesystem::status(files.Path("audit")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

struct StartCase {
  std::vector<std::string> flags;
  std::string text;
};

TEST(SecuredStart, RefusesWhatIsNotSafeInOneLine) {
  const SecurityFiles files;
  const TestAuthority other("Another authority");
  files.Write("other.key", other.Issue("x", {}).key_pem);
  files.Write("open.key", files.Read("server.key"));
  chmod(files.Path("open.key").c_str(), 0644);
  files.Write("open.json", files.Read("credentials.json"));
  chmod(files.Path("open.json").c_str(), 0640);
  files.Write("bad.json", R"({"access_keys": [], "polices": {}})");
  const std::string cert = "--tls_cert=" + files.Path("server.pem");
  const std::string key = "--tls_key=" + files.Path("server.key");
  const std::string credentials = "--credentials_file=" + files.Path("credentials.json");
  const StartCase kCases[] = {
      {{credentials}, "would take secrets of access keys in clear text: give --tls_cert and --tls_key"},
      {{"--grpc_listen=0.0.0.0:0", cert, key}, "is reachable from other machines: give --credentials_file"},
      {{"--http_listen=0.0.0.0:0", credentials, "--grpc_listen=off"}, "is reachable from other machines"},
      {{cert}, "needs --tls_key"},
      {{cert, "--tls_key=" + files.Path("other.key")},
       files.Path("other.key") + ": is not the key of the certificate in " + files.Path("server.pem")},
      {{cert, "--tls_key=" + files.Path("open.key")},
       files.Path("open.key") + ": others may use it (mode 0644); run: chmod 600 " + files.Path("open.key")},
      {{cert, "--tls_key=" + files.Path("server.pem")}, "server.pem: holds no private key in PEM form"},
      {{"--tls_cert=" + files.Path("server.key"), key}, "server.key: holds no certificate in PEM form"},
      {{cert, key, "--tls_client_ca=" + files.Path("server.key"), credentials}, "holds no certificate in PEM form"},
      {{cert, key, "--credentials_file=" + files.Path("none.json")}, "none.json: No such file or directory"},
      {{cert, key, "--credentials_file=" + files.Path("open.json")}, "open.json: others may use it (mode 0640)"},
      {{cert, key, "--credentials_file=" + files.Path("bad.json")},
       "bad.json: polices: is unknown; the file has access_keys, certificates and policies"},
      {{"--audit_log=" + files.Path("none/audit")}, "cannot write the audit log"},
  };
  for (const StartCase& c : kCases) {
    std::vector<std::string> flags = {"--data_dir=" + files.Path("data"), "--grpc_listen=127.0.0.1:0"};
    flags.insert(flags.end(), c.flags.begin(), c.flags.end());
    const Ended ended = RunDaemon(flags);
    EXPECT_EQ(ended.exit_code, 1) << c.text;
    EXPECT_EQ(ended.out, "") << c.text;
    EXPECT_THAT(ended.err, HasSubstr(c.text));
  }
}

// The flags that the shipped configuration suggests.
TEST(SecuredStart, TlsWithoutClientAuthoritiesServes) {
  const SecurityFiles files;
  DaemonProcess daemon({"--tls_cert=" + files.Path("server.pem"), "--tls_key=" + files.Path("server.key"),
                        "--credentials_file=" + files.Path("credentials.json")},
                       files.WithKey("AKROOT"));
  EXPECT_TRUE(daemon.client().ListTables({}).ok());
  // No certificate of a client is asked for, so none counts, not even one that the server's authority has issued.
  EXPECT_EQ(
      client::ErrorName(
          daemon.ConnectWith(files.WithCertificate(files.authority(), "ops.example.org", {})).ListTables({}).status()),
      "MissingAuthenticationTokenException");

  const TestAuthority next("Next authority");
  const CertificateAndKey renewed = next.Issue("armatured", {"IP:127.0.0.1"});
  files.Write("server.pem", renewed.certificate_pem);
  files.Write("server.key", renewed.key_pem);
  daemon.Hangup();
  EXPECT_TRUE(
      Eventually([&] { return daemon.ConnectWith(SecurityFiles::WithKey(next, "AKROOT")).ListTables({}).ok(); }));
  EXPECT_EQ(daemon.Stop(), 0);
}

// Days from now until the end of a certificate, as the metrics tell it; -1 if they tell none.
double DaysLeft(const DaemonProcess& daemon, std::string_view certificate) {
  constexpr double kDaySeconds = 86'400;
  RawHttpClient http(daemon.metrics_address());
  http.Send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string page = http.Read().body;
  const std::string series =
      Cat("\narmature_tls_certificate_expiry_timestamp_seconds{certificate=\"", certificate, "\"} ");
  const size_t at = page.find(series);
  if (at == std::string::npos) return -1;
  return (std::stod(page.substr(at + series.size())) - absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch())) /
         kDaySeconds;
}

TEST(CertificateExpiry, IsAMetricThatFollowsAReload) {
  const SecurityFiles files;
  std::vector<std::string> flags = files.Flags();
  flags.emplace_back("--metrics_listen=127.0.0.1:0");
  DaemonProcess daemon(flags, files.WithKey("AKROOT"));
  EXPECT_NEAR(DaysLeft(daemon, "server"), 1, 0.1);
  EXPECT_NEAR(DaysLeft(daemon, "client_ca"), 1, 0.1);

  const CertificateAndKey renewed = files.authority().Issue("armatured", {"IP:127.0.0.1"}, "", /*days=*/90);
  files.Write("server.pem", renewed.certificate_pem);
  files.Write("server.key", renewed.key_pem);
  daemon.Hangup();
  EXPECT_TRUE(Eventually([&] { return DaysLeft(daemon, "server") > 89; }));
  EXPECT_NEAR(DaysLeft(daemon, "client_ca"), 1, 0.1);
}

TEST(CertificateExpiry, IsNoMetricWithoutTls) {
  const DaemonProcess daemon({"--metrics_listen=127.0.0.1:0"});
  EXPECT_EQ(DaysLeft(daemon, "server"), -1);
}

TEST(SecuredStart, InsecureMustBeSaid) {
  const SecurityFiles files;
  const std::string credentials = "--credentials_file=" + files.Path("credentials.json");
  const DaemonProcess daemon({credentials, "--insecure"});
  EXPECT_EQ(client::ErrorName(daemon.client().ListTables({}).status()), "MissingAuthenticationTokenException");
  EXPECT_THAT(daemon.ReadStderr(), HasSubstr("insecure"));
}

}  // namespace armature::test::security_start_test

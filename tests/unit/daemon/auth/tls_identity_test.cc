#include "daemon/auth/tls_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <string_view>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_certificates.h"

namespace armature::daemon::tls_identity_test {

constexpr int64_t kDay = 86'400;
constexpr int64_t kMinute = 60;

class TlsIdentityTest : public testing::Test {
 protected:
  std::string Write(std::string_view name, std::string_view text) const {
    const std::string path = directory_.path(std::string(name));
    std::ofstream(path) << text;
    chmod(path.c_str(), 0600);
    return path;
  }

  TlsFiles FilesOf(const test::CertificateAndKey& made) const {
    return {.certificate = Write("server.pem", made.certificate_pem),
            .key = Write("server.key", made.key_pem),
            .client_ca = ""};
  }

  const test::TestAuthority authority_{"Authority"};
  const test::TempDir directory_;
};

TEST_F(TlsIdentityTest, ItsEndIsThatOfTheFirstCertificate) {
  test::CertificateAndKey made = authority_.Issue("armatured", {}, "", /*days=*/30);
  made.certificate_pem += authority_.certificate_pem();  // for a day
  const auto identity = LoadTlsIdentity(FilesOf(made));
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_NEAR(static_cast<double>(identity->certificate_expiry_s - absl::ToUnixSeconds(absl::Now())), 30 * kDay,
              kMinute);
  EXPECT_EQ(identity->client_ca_expiry_s, 0);
}

TEST_F(TlsIdentityTest, TheFirstAuthorityToEndCounts) {
  TlsFiles files = FilesOf(authority_.Issue("armatured", {}, "", /*days=*/30));
  files.client_ca = Write("ca.pem", authority_.Issue("long", {}, "", /*days=*/900).certificate_pem +
                                        authority_.Issue("short", {}, "", /*days=*/20).certificate_pem);
  const auto identity = LoadTlsIdentity(files);
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_NEAR(static_cast<double>(identity->client_ca_expiry_s - absl::ToUnixSeconds(absl::Now())), 20 * kDay, kMinute);
}

TEST_F(TlsIdentityTest, ADamagedCertificateBehindTheFirstIsRefused) {
  test::CertificateAndKey made = authority_.Issue("armatured", {});
  made.certificate_pem += "-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n";
  EXPECT_THAT(std::string(LoadTlsIdentity(FilesOf(made)).status().message()),
              testing::HasSubstr("server.pem: holds no certificate in PEM form, or a damaged one"));
}

}  // namespace armature::daemon::tls_identity_test

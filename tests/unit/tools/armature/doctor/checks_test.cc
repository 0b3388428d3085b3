#include "tools/armature/doctor/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <set>
#include <string>

#include "absl/time/clock.h"
#include "armature/version.h"
#include "storage/base/strings.h"
#include "tests/support/test_certificates.h"
#include "tools/armature/session.h"

namespace armature::cli::checks_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kGib = uint64_t{1} << 30;
constexpr uid_t kDaemon = 101;
constexpr uid_t kOther = 1000;

// A machine with which all is well. A test spoils a part of it.
class FakeHost final : public Host {
 public:
  absl::Time Now() const override { return now; }
  std::string ProgramOf(pid_t) const override { return "armatured"; }
  uint64_t DescriptorLimit(pid_t) const override { return descriptors; }
  uint64_t MemoryBytes(pid_t) const override { return memory_bytes; }
  std::optional<bool> IsClockSynchronised() const override { return is_clock_synchronised; }
  std::optional<uid_t> UserOf(pid_t) const override { return kDaemon; }
  std::optional<uid_t> UserNamed(const std::string&) const override { return kDaemon; }
  absl::StatusOr<FileSystemFacts> FileSystemOf(const std::string&) const override { return file_system; }
  absl::StatusOr<FileFacts> Stat(const std::string& path) const override {
    const auto found = files.find(path);
    if (found == files.end()) return absl::NotFoundError(Cat(path, ": No such file or directory"));
    return found->second;
  }
  absl::StatusOr<std::string> Read(const std::string& path) const override {
    const auto found = contents.find(path);
    if (found == contents.end()) return absl::NotFoundError(Cat(path, ": No such file or directory"));
    return found->second;
  }
  absl::Status TryListen(const std::string& address) const override {
    if (taken.count(address) == 0) return absl::OkStatus();
    return absl::UnavailableError(Cat(address, ": Address already in use"));
  }

  absl::Time now = absl::Now();
  uint64_t descriptors = 1 << 20;
  uint64_t memory_bytes = 8 * kGib;
  std::optional<bool> is_clock_synchronised = true;
  FileSystemFacts file_system = {.type = "ext4", .total_bytes = 100 * kGib, .free_bytes = 60 * kGib};
  std::map<std::string, FileFacts> files = {{"/data", {.owner = kDaemon, .mode = S_IFDIR | 0700}}};
  std::map<std::string, std::string> contents;
  std::set<std::string> taken;
};

class ChecksTest : public testing::Test {
 protected:
  ChecksTest() {
    patient_.settings.data_dir = "/data";
    patient_.settings.listen = {"127.0.0.1:7700"};
  }

  // The only finding.
  static Finding Only(const Findings& findings) {
    EXPECT_THAT(findings, SizeIs(1));
    return findings.empty() ? Finding() : findings[0];
  }
  static void Expect(const Finding& finding, FindingState state, const std::string& text,
                     const std::string& remedy = "") {
    EXPECT_EQ(finding.state, state) << finding.text;
    EXPECT_THAT(finding.text, HasSubstr(text));
    EXPECT_THAT(finding.remedy, HasSubstr(remedy));
    EXPECT_EQ(finding.remedy.empty(), state == FindingState::kOk) << finding.remedy;
  }

  FakeHost host_;
  Patient patient_{.host = host_, .settings = {}, .process = 0, .user = kDaemon};
};

TEST_F(ChecksTest, AllIsWellOnAGoodMachine) {
  for (const Findings& findings : {CheckDescriptors(patient_), CheckData(patient_), CheckMemory(patient_),
                                   CheckClock(patient_), CheckPorts(patient_)}) {
    EXPECT_FALSE(findings.empty());
    for (const Finding& each : findings) EXPECT_EQ(each.state, FindingState::kOk) << each.text;
  }
  EXPECT_THAT(CheckCertificates(patient_), IsEmpty()) << "without TLS";
  EXPECT_THAT(CheckSecrets(patient_), IsEmpty());
}

TEST_F(ChecksTest, FewDescriptorsAreTold) {
  host_.descriptors = 512;
  Expect(Only(CheckDescriptors(patient_)), FindingState::kFail, "does not start below 1024", "LimitNOFILE=");
  host_.descriptors = 4096;
  Expect(Only(CheckDescriptors(patient_)), FindingState::kWarn, "16000 tables and indexes may need 65024", "ulimit");
  patient_.settings.column_families_max = 700;
  Expect(Only(CheckDescriptors(patient_)), FindingState::kOk, "4096 files");
}

TEST_F(ChecksTest, FileSystemsThatLoseDataAreTold) {
  struct Case {
    const char* type;
    FindingState state;
    const char* text;
  };
  const Case cases[] = {{"tmpfs", FindingState::kFail, "gone after a restart"},
                        {"nfs", FindingState::kFail, "remote"},
                        {"overlay", FindingState::kWarn, "gone with the container"},
                        {"xfs", FindingState::kOk, "/data is on xfs"}};
  for (const Case& c : cases) {
    host_.file_system.type = c.type;
    Expect(CheckData(patient_)[0], c.state, c.text);
  }
}

TEST_F(ChecksTest, ANearlyFullDiskIsTold) {
  host_.file_system.free_bytes = 4 * kGib;
  Expect(CheckData(patient_)[1], FindingState::kWarn, "writes stop below", "free space");
  host_.file_system.free_bytes = kGib / 2;
  Expect(CheckData(patient_)[1], FindingState::kFail, "writes stop below", "free space");
}

TEST_F(ChecksTest, TheDataDirectoryBelongsToTheDaemonAlone) {
  host_.files["/data"] = {.owner = kOther, .mode = S_IFDIR | 0700};
  Expect(CheckData(patient_)[2], FindingState::kFail, "belongs to user 1000, and the daemon runs as user 101",
         "chown -R 101 /data");
  host_.files["/data"] = {.owner = kDaemon, .mode = S_IFDIR | 0755};
  Expect(CheckData(patient_)[2], FindingState::kWarn, "mode 0755", "chmod 700 /data");
  host_.files["/data"] = {.owner = kDaemon, .mode = S_IFREG | 0700};
  Expect(CheckData(patient_)[2], FindingState::kFail, "is no directory", "--data_dir");
  host_.files.clear();
  Expect(CheckData(patient_)[2], FindingState::kOk, "the first start makes it");
}

// A restore by root leaves files of root, with which the service would not start.
TEST_F(ChecksTest, TheUserOfAPackagedDaemonIsThatOfItsUnit) {
  host_.files["/data"].owner = 0;
  EXPECT_EQ(FindDaemonUser(patient_, /*is_packaged=*/true), kDaemon);
  EXPECT_EQ(FindDaemonUser(patient_, /*is_packaged=*/false), 0u);
  host_.files.clear();
  EXPECT_EQ(FindDaemonUser(patient_, /*is_packaged=*/false), kDaemon);
}

TEST_F(ChecksTest, BudgetsBeyondTheMemoryAreTold) {
  patient_.settings.cache_bytes = 2 * kGib;
  Expect(Only(CheckMemory(patient_)), FindingState::kOk, "2.1 GB of 8.6 GB");
  patient_.settings.memtables_bytes = 4 * kGib;
  Expect(Only(CheckMemory(patient_)), FindingState::kWarn, "half as much again", "--cache_mb");
  patient_.settings.request_memory_bytes = 4 * kGib;
  Expect(Only(CheckMemory(patient_)), FindingState::kFail, "10.7 GB of 8.6 GB", "--cache_mb");
}

TEST_F(ChecksTest, AClockThatRunsFreeIsTold) {
  host_.is_clock_synchronised = false;
  Expect(Only(CheckClock(patient_)), FindingState::kWarn, "not synchronised", "chrony");
  host_.is_clock_synchronised = std::nullopt;
  Expect(Only(CheckClock(patient_)), FindingState::kWarn, "does not tell", "timedatectl");
}

TEST_F(ChecksTest, PortsOfOtherProgramsAreTold) {
  host_.taken = {"127.0.0.1:7700"};
  Expect(Only(CheckPorts(patient_)), FindingState::kWarn, "127.0.0.1:7700: Address already in use", "ss -ltnp");
  patient_.process = 7;  // they are its own
  EXPECT_THAT(CheckPorts(patient_), IsEmpty());
}

TEST_F(ChecksTest, SecretsAreForTheDaemonOnly) {
  patient_.settings.tls_key = "/key";
  Expect(Only(CheckSecrets(patient_)), FindingState::kFail, "/key: No such file", "correct its path");
  host_.files["/key"] = {.owner = kDaemon, .mode = S_IFREG | 0600};
  Expect(Only(CheckSecrets(patient_)), FindingState::kOk, "mode 0600");
  host_.files["/key"].mode = S_IFREG | 0640;
  Expect(Only(CheckSecrets(patient_)), FindingState::kFail, "others may use /key (mode 0640)", "chmod 600 /key");
  host_.files["/key"] = {.owner = kOther, .mode = S_IFREG | 0600};
  Expect(Only(CheckSecrets(patient_)), FindingState::kFail, "belongs to user 1000", "chown 101 /key");
  // As the packages advise: of root, with the group of the daemon.
  host_.files["/key"] = {.owner = 0, .mode = S_IFREG | 0640};
  Expect(Only(CheckSecrets(patient_)), FindingState::kOk, "mode 0640");
  host_.files["/key"].mode = S_IFREG | 0644;
  Expect(Only(CheckSecrets(patient_)), FindingState::kFail, "mode 0644", "chmod 640 /key");
}

class CertificatesTest : public ChecksTest {
 protected:
  CertificatesTest() {
    patient_.settings.tls_cert = "/cert";
    patient_.settings.tls_key = "/key";
    Use(authority_.Issue("armatured", {}, "", /*days=*/30));
  }

  void Use(const test::CertificateAndKey& made) {
    host_.contents["/cert"] = made.certificate_pem;
    host_.contents["/key"] = made.key_pem;
  }

  const test::TestAuthority authority_{"Authority"};
};

TEST_F(CertificatesTest, TheirEndIsTold) {
  Expect(Only(CheckCertificates(patient_)), FindingState::kOk, "/cert expires on ");
  host_.now += absl::Hours(24 * 20);
  Expect(Only(CheckCertificates(patient_)), FindingState::kWarn, "/cert expires on ", "reload armatured");
  host_.now += absl::Hours(24 * 8);
  Expect(Only(CheckCertificates(patient_)), FindingState::kFail, "/cert expires on ", "reload armatured");
  host_.now += absl::Hours(24 * 8);
  Expect(Only(CheckCertificates(patient_)), FindingState::kFail, "/cert has expired on ", "reload armatured");
}

TEST_F(CertificatesTest, AuthoritiesOfClientsEndToo) {
  patient_.settings.tls_client_ca = "/ca";
  host_.contents["/ca"] = authority_.certificate_pem();  // for a day
  const Findings findings = CheckCertificates(patient_);
  ASSERT_THAT(findings, SizeIs(2));
  Expect(findings[0], FindingState::kOk, "/cert");
  Expect(findings[1], FindingState::kFail, "/ca expires on ", "reload armatured");
}

TEST_F(CertificatesTest, AKeyOfAnotherOneIsTold) {
  host_.contents["/key"] = authority_.Issue("another", {}).key_pem;
  Expect(Only(CheckCertificates(patient_)), FindingState::kFail, "/key: is not the key of the certificate in /cert",
         "belong together");
  host_.contents.erase("/key");
  Expect(Only(CheckCertificates(patient_)), FindingState::kFail, "/key: No such file", "correct its path");
}

TEST(DaemonChecks, VersionsAndStateAreThoseOfTheDaemon) {
  admin::v1::GetServerInfoResponse info;
  info.set_version(kVersion);
  info.set_pid(42);
  for (const Finding& each : CheckDaemon(info)) EXPECT_EQ(each.state, FindingState::kOk) << each.text;
  info.set_version("0.0.1");
  info.set_writes_refused_reason("the disk is full");
  info.add_damaged("table Orders: x.sst");
  const Findings findings = CheckDaemon(info);
  ASSERT_THAT(findings, SizeIs(4));
  EXPECT_EQ(findings[1].state, FindingState::kWarn);
  EXPECT_THAT(findings[1].text, HasSubstr("the daemon is 0.0.1"));
  EXPECT_EQ(findings[2].state, FindingState::kFail);
  EXPECT_THAT(findings[2].text, HasSubstr("the disk is full"));
  EXPECT_EQ(findings[3].state, FindingState::kFail);
  EXPECT_EQ(findings[3].text, "table Orders: x.sst");
}

TEST(DaemonChecks, ADaemonThatIsNotThereIsNoFault) {
  const Findings findings = CheckDaemon(UnreachableError("nobody"));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].state, FindingState::kOk);
  EXPECT_EQ(CheckDaemon(absl::PermissionDeniedError("no right"))[0].state, FindingState::kWarn);
}

}  // namespace armature::cli::checks_test

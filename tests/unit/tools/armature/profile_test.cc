#include "tools/armature/profile.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"
#include "tools/armature/session.h"

namespace armature::cli::profile_test {

using testing::HasSubstr;

class ProfileTest : public testing::Test {
 protected:
  ProfileTest()
      : directory_(Cat(testing::TempDir(), "profile_", testing::UnitTest::GetInstance()->random_seed())),
        path_(Cat(directory_, "/config.toml")) {
    std::filesystem::create_directories(directory_);
    unsetenv(kSecretVariable);
  }
  ~ProfileTest() override {
    unsetenv(kSecretVariable);
    std::filesystem::remove_all(directory_);
  }

  void Write(const std::string& text) const { std::ofstream(path_, std::ios::trunc) << text; }

  // The error of the file with this text, without its directory; empty if it is right.
  std::string Fault(const std::string& text) const {
    Write(text);
    const absl::Status status = ReadProfiles(path_).status();
    if (status.ok()) return "";
    EXPECT_EQ(ExitCodeOf(status), ExitCode::kUsageError);
    const std::string message(status.message());
    EXPECT_TRUE(message.starts_with(Cat(directory_, "/"))) << message;
    return message.substr(directory_.size() + 1);
  }

  // The options after the profile `name` of the file: "endpoint=a:1 output=json", those that are set. Or the error.
  std::string Apply(const std::string& name, std::vector<std::string> arguments) const {
    CLI::App app;
    std::vector<std::string> values(9);
    values[0] = kDefaultEndpoint;
    const std::vector<std::string> names = {"--endpoint", "--tls-ca",     "--tls-cert",
                                            "--tls-key",  "--access-key", "--secret-file"};
    for (size_t i = 0; i < names.size(); ++i) app.add_option(names[i], values[i])->capture_default_str();
    app.add_option("--output", values[6])->check(CLI::IsMember({"json", "table"}));
    bool tls = false;
    app.add_flag("--tls", tls);
    double timeout = 30;
    app.add_option("--timeout", timeout)->check(CLI::Range(0.001, 86400.0));
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
    const auto profiles = ReadProfiles(path_);
    if (!profiles.ok()) return std::string(profiles.status().message());
    const absl::Status status = ApplyProfile(*profiles, name, path_, &app);
    if (!status.ok()) return std::string(status.message());
    std::string text;
    for (const CLI::Option* option : app.get_options()) {
      if (option->count() == 0) continue;
      text += Cat(text.empty() ? "" : " ", option->get_lnames().front(), "=", option->results().back());
    }
    if (timeout != 30) text += " in time";
    return text;
  }

  const std::string directory_;
  const std::string path_;
};

TEST_F(ProfileTest, NoFileMeansNoProfiles) {
  EXPECT_EQ(Apply("", {}), "");
  EXPECT_THAT(Apply("live", {}), HasSubstr("no profile [live]; it has none"));
}

TEST_F(ProfileTest, ADirectoryIsNoFile) {
  std::filesystem::create_directories(path_);
  EXPECT_EQ(Apply("", {}), Cat("cannot read ", path_));
}

TEST_F(ProfileTest, DefaultProfileIsTakenWithoutAName) {
  Write("[default]\nendpoint = \"a:1\"\ntimeout = 5\n[live]\nendpoint = \"b:1\"\ntls = true\n");
  EXPECT_EQ(Apply("", {}), "endpoint=a:1 timeout=5 in time");
  EXPECT_EQ(Apply("live", {}), "endpoint=b:1 tls=true") << "a profile does not inherit";
}

TEST_F(ProfileTest, GivenOptionsComeFirst) {
  Write("[live]\nendpoint = \"b:1\"\noutput = \"json\"\n");
  EXPECT_EQ(Apply("live", {"--output", "table"}), "endpoint=b:1 output=table");
  EXPECT_EQ(Apply("live", {"--endpoint", "c:1"}), "endpoint=c:1 output=json");
}

TEST_F(ProfileTest, DefaultProfileDoesNotGiveItsCredentialsToAnotherDaemon) {
  Write("[default]\nendpoint = \"a:1\"\naccess_key = \"K\"\nsecret_file = \"/s\"\ntls = true\noutput = \"json\"\n");
  EXPECT_EQ(Apply("", {"--endpoint", "b:1"}), "endpoint=b:1 output=json");
  EXPECT_THAT(Apply("", {"--endpoint", "a:1"}), HasSubstr("access-key=K secret-file=/s"));
  EXPECT_THAT(Apply("default", {"--endpoint", "b:1"}), HasSubstr("access-key=K")) << "the user has named it";
}

TEST_F(ProfileTest, AProfileWithoutAnEndpointIsThatOfTheUsualDaemon) {
  Write("[default]\naccess_key = \"K\"\nsecret_file = \"/s\"\noutput = \"json\"\n");
  EXPECT_EQ(Apply("", {"--endpoint", "b:1"}), "endpoint=b:1 output=json");
  EXPECT_THAT(Apply("", {}), HasSubstr("access-key=K secret-file=/s"));
  EXPECT_THAT(Apply("", {"--endpoint", kDefaultEndpoint}), HasSubstr("access-key=K secret-file=/s"));
}

TEST_F(ProfileTest, SecretsOfTheUserComeBeforeThoseOfTheProfile) {
  Write("[default]\nendpoint = \"a:1\"\naccess_key = \"K\"\nsecret_file = \"/s\"\n");
  EXPECT_EQ(Apply("", {"--access-key", "OTHER"}), "endpoint=a:1 access-key=OTHER");
  setenv(kSecretVariable, "secret", 1);
  EXPECT_EQ(Apply("", {}), "endpoint=a:1 access-key=K");
}

TEST_F(ProfileTest, PathsAreRelativeToTheFile) {
  setenv("HOME", "/home/someone", 1);
  Write("[default]\ntls_ca = \"ca.pem\"\ntls_cert = \"/etc/c.pem\"\ntls_key = \"~/k.pem\"\n");
  EXPECT_EQ(Apply("", {}), Cat("tls-ca=", directory_, "/ca.pem tls-cert=/etc/c.pem tls-key=/home/someone/k.pem"));
}

TEST_F(ProfileTest, FaultsNameFileAndLine) {
  EXPECT_EQ(
      Fault("[default]\n\nendpiont = \"a:1\"\n"),
      "config.toml:3: unknown key 'endpiont'; did you mean 'endpoint'?; known keys: endpoint, tls, tls_ca, tls_cert, "
      "tls_key, access_key, secret_file, output, timeout");
  EXPECT_EQ(Fault("endpoint = \"a:1\"\n"),
            "config.toml:1: 'endpoint' stands before the first profile, such as [default]");
  EXPECT_THAT(Fault("[default]\nendpoint = a:1\n"), testing::StartsWith("config.toml:2: "));
  EXPECT_EQ(Fault("[a]\ntls = \"yes\"\n"), "config.toml:2: tls must be true or false");
  EXPECT_EQ(Fault("[a]\ntimeout = \"5\"\n"), "config.toml:2: timeout must be a number");
  EXPECT_EQ(Fault("[a]\nendpoint = 7700\n"), "config.toml:2: endpoint must be a text in quotes");
  EXPECT_THAT(Fault("[a.b]\ntls = true\n"), HasSubstr("unknown key 'b'"));
}

TEST_F(ProfileTest, ValuesHaveTheLimitsOfTheirOptions) {
  Write("[default]\noutput = \"xml\"\n");
  EXPECT_THAT(Apply("", {}), HasSubstr("config.toml:2: --output: "));
  Write("[default]\ntimeout = 0\n");
  EXPECT_THAT(Apply("", {}), HasSubstr("config.toml:2: --timeout: "));
}

TEST_F(ProfileTest, SecretsAreRefused) {
  for (const char* const key : {"secret", "secret_key", "secret_access_key"}) {
    EXPECT_THAT(Fault(Cat("[live]\n", key, " = \"xyz\"\n")), HasSubstr("config.toml:2: a secret does not belong"));
  }
}

TEST_F(ProfileTest, UnknownProfileNamesTheKnownOnes) {
  Write("[default]\n[live]\n");
  EXPECT_THAT(Apply("lvie", {}),
              HasSubstr("config.toml: no profile [lvie]; did you mean 'live'?; it has: default, live"));
}

}  // namespace armature::cli::profile_test

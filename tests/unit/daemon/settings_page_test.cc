#include "daemon/settings_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/flag_table.h"
#include "daemon/flags.h"
#include "gmock/gmock.h"
#include "storage/base/strings.h"
#include "tests/support/temp_dir.h"

namespace armature::daemon::settings_page_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A place that is a volume in RADOS, or a directory.
class KnownPlace final : public place::Place {
 public:
  explicit KnownPlace(std::optional<rados::VolumeStats> stats) : stats_(std::move(stats)) {}
  store::Volume* volume() const override { return nullptr; }
  const std::string& data_dir() const override { return data_dir_; }
  absl::Status Announce(std::string_view) override { return absl::OkStatus(); }
  void Abandon() override {}
  absl::StatusOr<std::vector<std::string>> FindLostObjects() override { return std::vector<std::string>(); }
  std::optional<rados::VolumeStats> stats() const override { return stats_; }

 private:
  const std::string data_dir_;
  const std::optional<rados::VolumeStats> stats_;
};

// The page of a daemon that was started with these arguments.
std::string Page(const std::vector<std::string>& arguments, std::optional<rados::VolumeStats> stats = std::nullopt) {
  const absl::StatusOr<Config> given = ReadFlags({arguments.begin(), arguments.end()});
  EXPECT_TRUE(given.ok()) << given.status();
  const absl::StatusOr<Config> config = MakeConfig(*given, {.processors = 4, .memory_bytes = uint64_t{8} << 30});
  EXPECT_TRUE(config.ok()) << config.status();
  return SettingsJson(*config, KnownPlace(std::move(stats)), "grpc=a:1");
}

TEST(SettingsPage, HasTheSourceOfEachFlag) {
  const test::TempDir dir;
  const std::string path = Cat(dir.path(), "/flags");
  std::ofstream(path) << "# a comment\ncache_mb = 64\nread_threads = 3\n";
  const std::string page = Page({Cat("--data_dir=", dir.path(), "/d"), Cat("--config=", path), "--read_threads=5"});
  EXPECT_THAT(page, HasSubstr(R"({"Name":"cache_mb","Group":"Resources","Source":"file","Value":"64","Line":2,)"));
  EXPECT_THAT(page, HasSubstr(R"({"Name":"read_threads","Group":"Resources","Source":"flag","Value":"5","Default":)"));
  EXPECT_THAT(page, HasSubstr(R"({"Name":"durability","Group":"Data","Source":"default","Value":"sync",)"));
  EXPECT_THAT(page, AllOf(HasSubstr(Cat(R"("Config":")", path, "\"")), Not(HasSubstr(R"("Name":"config")"))));
  EXPECT_THAT(page, Not(HasSubstr("Owner")));
}

TEST(SettingsPage, SaysTheValueInEffectOfWhatTheMachineDecides) {
  const std::string page = Page({"--data_dir=/d"});
  EXPECT_THAT(page, HasSubstr(R"("InEffect":")"));
  EXPECT_THAT(page, Not(HasSubstr("2562047h")));
}

TEST(SettingsPage, IsADocumentWhateverThePathsAre) {
  EXPECT_THAT(Page({"--data_dir=/d\xff\"x"}), HasSubstr(R"("Value":"/d?\"x")"));
}

TEST(SettingsPage, HasTheStateOfTheOwnerInRados) {
  EXPECT_THAT(Page({"--data_dir=/d"}, rados::VolumeStats{.epoch = 7, .lease_left_s = 2.5, .objects = 9}),
              HasSubstr(R"("Owner":{"Epoch":7,"LeaseLeftSeconds":2.5,"Service":"grpc=a:1","Objects":9,)"));
}

TEST(SettingsPage, SecretsAreKnownByTheirNames) {
  EXPECT_TRUE(IsSecretFlag("archive_password") && IsSecretFlag("cluster_secret") && IsSecretFlag("api_token"));
  for (const FlagRow& row : FlagTable()) EXPECT_FALSE(IsSecretFlag(row.name)) << row.name << ": is its value shown?";
}

}  // namespace armature::daemon::settings_page_test

#include "daemon/live_settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/flag_table.h"
#include "daemon/flags.h"
#include "storage/base/strings.h"
#include "tests/support/temp_dir.h"

namespace armature::daemon::live_settings_test {

// A file of flags, and the settings of a daemon that was started with it and with `arguments`.
class Started {
 public:
  Started(const std::string& text, std::vector<std::string> arguments)
      : file_(Cat(directory_.path(), "/armatured.conf")), arguments_(std::move(arguments)) {
    Write(text);
    arguments_.push_back(Cat("--config=", file_));
    arguments_.push_back("--data_dir=/data");
    const std::vector<std::string_view> views(arguments_.begin(), arguments_.end());
    settings_.emplace(views, ReadFlags(views).value());
  }

  std::optional<Config> RereadAfter(const std::string& text) {
    Write(text);
    std::optional<Config> changed;
    settings_->Reread([&changed](const Config& config) { changed = config; });
    return changed;
  }

 private:
  void Write(const std::string& text) { std::ofstream(file_, std::ios::trunc) << text; }

  test::TempDir directory_;
  std::string file_;
  std::vector<std::string> arguments_;
  std::optional<LiveSettings> settings_;
};

TEST(LiveSettings, ChangedOnesAreReturnedOnce) {
  Started daemon("cache_mb = 64\n", {});
  EXPECT_FALSE(daemon.RereadAfter("cache_mb = 64M\n").has_value()) << "another text of the same value";
  const std::optional<Config> changed = daemon.RereadAfter("cache_mb = 32\nslow_request_ms = 5\n");
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(changed->database.cache_bytes, size_t{32} << 20);
  EXPECT_EQ(changed->slow_request_ms, 5);
  EXPECT_FALSE(daemon.RereadAfter("cache_mb = 32\nslow_request_ms = 5\n").has_value());
  // A line that is gone gives the flag its default.
  const std::optional<Config> back = daemon.RereadAfter("cache_mb = 32\n");
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->slow_request_ms, 0);
}

TEST(LiveSettings, FixedOnesWaitForTheNextStart) {
  Started daemon("read_threads = 3\n", {});
  EXPECT_FALSE(daemon.RereadAfter("read_threads = 4\n").has_value());
  const std::optional<Config> changed = daemon.RereadAfter("read_threads = 4\nwatch_max = 7\n");
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(changed->engine.watches_max, 7u);
  EXPECT_EQ(changed->engine.read_threads, 3u) << "the daemon has been started with three";
}

TEST(LiveSettings, TheCommandLineTakesPrecedence) {
  Started daemon("", {"--watch_max=9"});
  EXPECT_FALSE(daemon.RereadAfter("watch_max = 7\n").has_value());
}

TEST(LiveSettings, AWrongFileChangesNothing) {
  Started daemon("watch_max = 7\n", {});
  EXPECT_FALSE(daemon.RereadAfter("watch_max = 8\nwatch_may = 9\n").has_value());
  EXPECT_FALSE(daemon.RereadAfter("watch_max = 8\nslow_request_ms = never\n").has_value());
  // --backup_dir takes effect at the next start, so the schedule would have no directory until then.
  EXPECT_FALSE(daemon.RereadAfter("watch_max = 8\nbackup_dir = /backups\nbackup_interval = 1h\n").has_value());
  const std::optional<Config> changed = daemon.RereadAfter("watch_max = 8\n");
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(changed->engine.watches_max, 8u);
}

TEST(LiveSettings, AFileThatIsGoneChangesNothing) {
  const std::vector<std::string_view> arguments = {"--config=/nowhere/armatured.conf", "--data_dir=/data"};
  LiveSettings settings(arguments, DefaultConfig());
  settings.Reread([](const Config&) { FAIL() << "there is no file"; });
}

}  // namespace armature::daemon::live_settings_test

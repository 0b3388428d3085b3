#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_FILE_LOAD_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_FILE_LOAD_H_

// Loads one file of items into a table.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "armature/client/client.h"
#include "tools/armature/display.h"
#include "tools/armature/load/item_source.h"
#include "tools/armature/load/load_state.h"
#include "tools/armature/load/put_stream.h"
#include "tools/armature/session.h"

namespace armature::cli {

struct FileToLoad {
  std::string table_name;
  std::string path;  // "-" is standard input
  LoadFormat format = LoadFormat::kJsonLines;
  CsvTypes types{};          // attribute types, for CSV
  std::string state_path{};  // state file; empty: none
  bool resume = false;       // continue at the position of the state file
  int64_t skip_bad = 0;      // maximum number of bad records of all files together
};

// Counts of all files of a load.
struct LoadCounts {
  int64_t items = 0;
  int64_t bad = 0;
};

// The progress display of a load.
struct LoadProgress {
  ProgressBar* bar = nullptr;
  std::string what;
  int64_t bytes_before = 0;  // bytes of the finished files
  int64_t bytes_all = 0;     // bytes of all files; 0: only those of this file, if known
};

// Not thread-safe. Lifetime: all arguments outlive it.
class FileLoad {
 public:
  FileLoad(const Session& session, const client::Client& client, FileToLoad file, LoadProgress progress,
           LoadCounts* counts);

  // Loads the file. Called once. Errors: the reason why the load stopped. The state file has its position in any case.
  absl::Status Run();

 private:
  absl::Status Begin();
  absl::Status Resume();
  absl::Status LoadAll();
  // Called for each record, and repeatedly during waits.
  absl::Status Tick();
  // Stops the load with the error `why`. Waits for the puts in flight first, so that the state is exact.
  absl::Status StopFor(const absl::Status& why);
  absl::Status Settle(const PendingPut& put, const absl::Status& status);
  // Reports a record that is not an item, or that the daemon refused. Errors: `why`, if there are too many of them.
  absl::Status Skip(uint64_t ticket, int64_t line, const absl::Status& why);
  absl::Status SaveState();
  void ShowProgress();

  const Session& session_;
  const FileToLoad file_;
  const LoadProgress progress_;
  LoadCounts* const counts_;
  std::unique_ptr<ItemSource> source_;
  std::optional<AckTracker> tracker_;
  int64_t items_ = 0;
  int64_t items_before_ = 0;
  absl::Time last_saved_ = absl::InfinitePast();
  PutStream puts_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_LOAD_FILE_LOAD_H_

#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_FILE_LOAD_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_FILE_LOAD_H_

// One file of items on its way into a table.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "armature/api/v1/tables.pb.h"
#include "armature/client/client.h"
#include "tools/armature/load/ack_tracker.h"
#include "tools/armature/load/csv.h"
#include "tools/armature/load/item_source.h"
#include "tools/armature/load/put_stream.h"
#include "tools/armature/progress_bar.h"
#include "tools/armature/session.h"

namespace armature::cli {

struct FileToLoad {
  std::string table_name;
  std::string path;  // "-" is standard input
  LoadFormat format = LoadFormat::kJsonLines;
  CsvTypes types{};          // of its attributes, for CSV
  std::string state_path{};  // where it is kept how far the file has come; empty: nowhere
  bool resume = false;       // go on from there
  int64_t skip_bad = 0;      // so many records may be no items, or be refused, of all files together
};

// Of all files that share it.
struct LoadCounts {
  int64_t items = 0;
  int64_t bad = 0;
};

// Where it is shown how far the work is.
struct LoadProgress {
  ProgressBar* bar = nullptr;
  std::string what;
  int64_t bytes_before = 0;  // of files that are done
  int64_t bytes_all = 0;     // of all files; 0: of this one, if it is known
};

// Not thread-safe. Lifetime: all arguments outlive it.
class FileLoad {
 public:
  FileLoad(const Session& session, const client::Client& client, FileToLoad file, LoadProgress progress,
           LoadCounts* counts);

  // Once. Errors: what stopped it. How far it came is in the state file either way.
  absl::Status Run();

 private:
  absl::Status Begin();
  absl::Status Resume();
  absl::Status LoadAll();
  // Often: for each record, and while there is nothing to do but wait.
  absl::Status Tick();
  // What is under way is settled before, so that the state tells all that is in the table.
  absl::Status StopFor(const absl::Status& why);
  absl::Status Settle(const PendingPut& put, const absl::Status& status);
  // Tells of a record that is no item, or none for this table. Errors: `why`, if it is one too many.
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

// Gives the attributes of keys the types that they have in the table's schema, whatever else was said.
void AddKeyTypes(const api::v1::TableDescription& table, CsvTypes* types);

void PrintCounts(const Session& session, const LoadCounts& counts, absl::Duration elapsed);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_LOAD_FILE_LOAD_H_

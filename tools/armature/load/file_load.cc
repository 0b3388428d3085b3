#include "tools/armature/load/file_load.h"

#include <string_view>
#include <utility>

#include "absl/time/clock.h"
#include "armature/client/errors.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

constexpr absl::Duration kStateEvery = absl::Milliseconds(200);

// Maximum size of an item message, far above the limit of the daemon. Larger items are not sent.
constexpr size_t kItemBytesMax = 4 << 20;

}  // namespace

FileLoad::FileLoad(const Session& session, const client::Client& client, FileToLoad file, LoadProgress progress,
                   LoadCounts* counts)
    : session_(session),
      file_(std::move(file)),
      progress_(std::move(progress)),
      counts_(counts),
      puts_(client, file_.table_name, session.patience(),
            {.settled = [this](const PendingPut& put, const absl::Status& status) { return Settle(put, status); },
             .tick = [this] { return Tick(); }}) {}

absl::Status FileLoad::Run() {
  ARM_RETURN_IF_ERROR(Begin());
  absl::Status loaded = LoadAll();
  // Saves the position of the answers since the last save.
  const absl::Status saved = SaveState();
  return loaded.ok() ? saved : loaded;
}

absl::Status FileLoad::Begin() {
  ARM_ASSIGN_OR_RETURN(source_, ItemSource::Open(file_.path, file_.format, file_.types));
  if (file_.resume) ARM_RETURN_IF_ERROR(Resume());
  tracker_.emplace(source_->text().position());
  // An unwritable state file is an error before anything is sent.
  return SaveState();
}

absl::Status FileLoad::Resume() {
  ARM_ASSIGN_OR_RETURN(const std::optional<LoadState> state, ReadLoadState(file_.state_path));
  if (!state.has_value()) return absl::OkStatus();
  if (state->table_name != file_.table_name) {
    return InputError(Cat(file_.state_path, " is about the table ", state->table_name, "; remove it to begin anew"));
  }
  items_before_ = state->items;
  const absl::Status skipped = source_->SkipTo(state->position);
  return skipped.ok() ? skipped
                      : InputError(Cat(Sv(skipped.message()), "; remove ", file_.state_path, " to begin anew"));
}

absl::Status FileLoad::LoadAll() {
  while (true) {
    SourceRecord record;
    const absl::StatusOr<bool> has_record = source_->Next(&record);
    if (!has_record.ok()) return StopFor(has_record.status());
    if (!*has_record) return puts_.Finish();
    if (record.item.ok() && record.item->ByteSizeLong() > kItemBytesMax) {
      record.item = absl::InvalidArgumentError(Cat("the item is larger than ", kItemBytesMax, " bytes"));
    }
    const uint64_t ticket = tracker_->Begin(record.end);
    if (record.item.ok()) {
      ARM_RETURN_IF_ERROR(puts_.Put({.item = *std::move(record.item), .ticket = ticket, .line = record.line}));
    } else {
      const absl::Status skipped = Skip(ticket, record.line, InputError(Sv(record.item.status().message())));
      if (!skipped.ok()) return StopFor(skipped);
    }
    ARM_RETURN_IF_ERROR(Tick());
  }
}

absl::Status FileLoad::Tick() {
  ShowProgress();
  return absl::Now() - last_saved_ >= kStateEvery ? SaveState() : absl::OkStatus();
}

absl::Status FileLoad::StopFor(const absl::Status& why) {
  ARM_RETURN_IF_ERROR(puts_.Finish());
  return why;
}

absl::Status FileLoad::Settle(const PendingPut& put, const absl::Status& status) {
  if (status.ok()) {
    ++items_;
    ++counts_->items;
    tracker_->Done(put.ticket);
    return absl::OkStatus();
  }
  // Other errors are not about this item and would occur for every item.
  const std::string name = client::ErrorName(status);
  if (name != "ValidationException" && name != "ItemCollectionSizeLimitExceededException") return status;
  return Skip(put.ticket, put.line, status);
}

absl::Status FileLoad::Skip(uint64_t ticket, int64_t line, const absl::Status& why) {
  // The error of the load is printed by its end.
  if (++counts_->bad > file_.skip_bad) return WithContext(why, Cat("stopped at ", file_.path, ":", line));
  const std::string_view message = Sv(why.message());
  session_.progress() << file_.path << ":" << line << ": " << message.substr(0, message.find('\n')) << "\n"
                      << std::flush;
  tracker_->Done(ticket);
  return absl::OkStatus();
}

absl::Status FileLoad::SaveState() {
  last_saved_ = absl::Now();
  if (file_.state_path.empty()) return absl::OkStatus();
  return WriteLoadState(
      file_.state_path,
      {.table_name = file_.table_name, .position = tracker_->position(), .items = items_before_ + items_});
}

void FileLoad::ShowProgress() {
  const files::LineReader& text = source_->text();
  const int64_t all = progress_.bytes_all > 0 ? progress_.bytes_all : text.file_bytes();
  if (all == 0) {
    progress_.bar->Show({.what = Cat(progress_.what, " items"), .done = items_});
  } else {
    progress_.bar->Show({.what = Cat(progress_.what, " bytes"),
                         .done = progress_.bytes_before + text.file_bytes_read(),
                         .total = all,
                         .note = Cat(WithCommas(counts_->items), " items")});
  }
}

}  // namespace armature::cli

#include "tools/armature/inspect/inspection.h"

#include <utility>

#include "glog/logging.h"
#include "storage/base/strings.h"
#include "storage/store/inspector.h"
#include "storage/store/meta_keys.h"
#include "tools/armature/inspect/key_layout.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

std::string GapText(std::string_view family, const store::ReadGap& gap) {
  const std::string from = gap.after.empty() ? "from its beginning" : Cat("behind key ", Hex(gap.after));
  const std::string to = gap.to.empty() ? "to its end" : Cat("up to key ", Hex(gap.to));
  return Cat("family ", family, ": rows ", from, " ", to, " cannot be read: ", Sv(gap.reason.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Inspection>> Inspection::Open(const std::string& data_dir) {
  // The command reports the findings itself, so RocksDB logs nothing.
  FLAGS_minloglevel = google::GLOG_FATAL;
  absl::StatusOr<std::unique_ptr<store::Inspector>> store = store::Inspector::Open(data_dir);
  if (!store.ok()) return UsageError(Sv(store.status().message()));
  auto inspection = std::unique_ptr<Inspection>(new Inspection(*std::move(store)));
  for (const std::string& problem : inspection->store().problems()) inspection->AddProblem(problem);
  return inspection;
}

void Inspection::LoadTables() {
  Walk(store::kMetaFamily, {}, [this](std::string_view key, std::string_view value) {
    const store::MetaRecord record = store::ParseMetaRecord(key, value);
    tables_.Add(record);
    if (!record.status.ok()) {
      AddProblem(Cat("family meta: record ", Hex(key), ": ", Sv(record.status.message())));
    }
    return store::RowVerdict::kContinue;
  });
}

void Inspection::Walk(std::string_view family, const store::KeyRange& range, Visit visit) {
  const auto on_gap = [&](const store::ReadGap& gap) { AddProblem(GapText(family, gap)); };
  const absl::StatusOr<store::RangeEnd> end = store_->ForEachRow(family, range, visit, on_gap);
  // A missing database is reported already.
  if (!end.ok() && !store_->Families().empty()) AddProblem(std::string(Sv(end.status().message())));
}

absl::Status Inspection::Conclude() const {
  if (problems_.empty() && damaged_records_ == 0) return absl::OkStatus();
  return InputError(Cat(store_->path(), ": ", problems_.size(), " problems, ", damaged_records_,
                        " damaged records among those shown; all else was read"));
}

}  // namespace armature::cli

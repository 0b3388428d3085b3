// Records on disk beside the rows of tables. Input: a byte that selects the kind of record, then for records of the
// catalog the size of the key and the key, then the record.

#include <unistd.h>

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "storage/codec/change_codec.h"
#include "storage/codec/stream_codec.h"
#include "storage/store/backup/backup_files.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/commit/idempotency.h"
#include "storage/store/inspector.h"
#include "storage/store/keyspace.h"
#include "storage/store/wal/log_scan.h"
#include "storage/store/wal/manifest_families.h"
#include "tests/fuzz/fuzz_util.h"
#include "tests/support/repeating_change_record.h"

namespace armature::fuzz {
namespace {

// Every record that is understood is written as it was read, or as the same record again.
void CheckTable(std::string_view bytes) {
  const auto table = store::ParseTableRecord(bytes);
  if (!table.ok()) return;
  const auto again = store::ParseTableRecord(store::EncodeTableRecord(*table));
  Check(again.ok() && *again == *table, "a table record is what was written");
}

void CheckStream(std::string_view bytes) {
  const auto stream = store::ParseStreamDescriptor(bytes);
  if (!stream.ok()) return;
  const auto again = store::ParseStreamDescriptor(store::EncodeStreamDescriptor(*stream));
  Check(again.ok() && *again == *stream, "the record of a stream is what was written");
}

void CheckChange(std::string_view bytes) {
  const auto record = codec::ParseChangeRecord(bytes);
  if (!record.ok()) return;
  const std::string_view joined = record->joined == nullptr ? std::string_view() : std::string_view(*record->joined);
  const auto is_known = [&](std::string_view view) { return LiesIn(view, bytes) || LiesIn(view, joined); };
  for (const codec::IndexRowChange& change : record->index_changes) {
    Check(is_known(change.key) && is_known(change.value_head) && is_known(change.value), "a row is made of its record");
    Check(change.value.size() <= bytes.size(), "a row is no larger than its record");
  }
  const std::string repeating = test::RepeatingChangeRecord(*record);
  if (bytes.front() == codec::kRepeatingChangeVersion) Check(repeating == bytes, "such a record has one encoding");
  const auto again = codec::ParseChangeRecord(repeating);
  Check(again.ok() && test::RepeatingChangeRecord(*again) == repeating, "both versions can say the same");
}

void CheckStreamRecord(std::string_view bytes) {
  const auto record = codec::ParseStreamRecord(bytes);
  if (!record.ok()) return;
  for (const auto& image : {record->keys, record->new_image, record->old_image}) {
    if (image.has_value()) Check(LiesIn(*image, bytes), "an image lies in its record");
  }
}

void CheckBuild(std::string_view bytes) {
  const auto state = store::ParseBuildState(bytes);
  if (!state.ok()) return;
  const auto again = store::ParseBuildState(store::EncodeBuildState(*state));
  Check(again.ok() && *again == *state, "a build record is what was written");
}

void CheckMeta(std::string_view bytes) {
  if (bytes.empty()) return;
  const size_t key_size = std::min<size_t>(static_cast<uint8_t>(bytes[0]), bytes.size() - 1);
  static_cast<void>(store::ParseMetaRecord(bytes.substr(1, key_size), bytes.substr(1 + key_size)));
}

void CheckManifest(std::string_view bytes) {
  std::map<uint32_t, std::string> names;
  store::ApplyManifestRecord(bytes, &names);
  for (const auto& [id, name] : names) Check(name.size() <= bytes.size(), "a name lies in its record");
}

void CheckBackupManifest(std::string_view bytes) { static_cast<void>(store::ParseBackupManifest(bytes)); }
void CheckToken(std::string_view bytes) { static_cast<void>(store::ParseTokenRecord(bytes)); }
void CheckTotals(std::string_view bytes) { static_cast<void>(store::ParseStats(bytes)); }

// A file that is removed at the end.
struct LogFile {
  LogFile() { Check(close(mkstemp(path.data())) == 0, "a temporary file is made"); }
  ~LogFile() { unlink(path.c_str()); }
  std::string path = "/tmp/armature_fuzz_XXXXXX";
};

void CheckLog(std::string_view bytes) {
  static const LogFile file;
  std::FILE* const out = std::fopen(file.path.c_str(), "wb");
  Check(out != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size(), "the file is written");
  std::fclose(out);
  uint64_t taken = 0;
  const auto scan = store::ScanLog(store::LocalVolume(), file.path,
                                   [&taken](std::string_view record, bool) { taken += record.size(); });
  Check(scan.ok(), "every file can be scanned");
  Check(scan->size == bytes.size() && scan->whole <= scan->size, "the good part lies in the file");
  Check(taken <= bytes.size(), "records lie in the file");
  // The ends that a writer counts are those that the scan finds.
  store::RecordEnds ends;
  ends.Append(bytes.substr(0, scan->whole));
  Check(ends.last() == scan->whole, "a writer and a reader agree on the end of the last record");
}

constexpr std::array kChecks = {CheckTable, CheckStream, CheckChange,   CheckStreamRecord,
                                CheckBuild, CheckMeta,   CheckManifest, CheckBackupManifest,
                                CheckToken, CheckTotals, CheckLog};

}  // namespace
}  // namespace armature::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = armature::fuzz::Text(data, size);
  if (text.empty()) return 0;
  const size_t kind = static_cast<uint8_t>(text[0]) % armature::fuzz::kChecks.size();
  armature::fuzz::kChecks[kind](text.substr(1));
  return 0;
}

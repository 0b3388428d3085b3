// Files of items: JSON lines and CSV, compressed or not. Input: a byte that selects format, compression and delimiter,
// then the content of the file.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "daemon/item_files/json_item_files.h"
#include "storage/base/strings.h"
#include "tests/fuzz/fuzz_util.h"

namespace armature::fuzz {
namespace {

using engine::ItemFileOptions;
using engine::ItemFilePosition;
using engine::ItemFileReader;
using engine::ItemFileRecord;

// Records after which another reader continues. Each costs a pass over the file.
constexpr size_t kPositionsMax = 8;

ItemFileOptions OptionsOf(uint8_t selector) {
  constexpr std::string_view kDelimiters = ",;:|\t ";
  ItemFileOptions options;
  options.compression = static_cast<engine::FileCompression>(selector % 3);
  selector = static_cast<uint8_t>(selector / 3);
  if (selector % 2 == 0) return options;
  selector = static_cast<uint8_t>(selector / 2);
  options.format = engine::ItemFileFormat::kCsv;
  options.csv_types = {{"id", "N"}, {"b", "B"}};
  options.csv_delimiter = kDelimiters[selector % kDelimiters.size()];
  if (selector / kDelimiters.size() % 2 == 1) options.csv_header = {"id", "b", "text"};
  return options;
}

// Reads the rest of a file. Returns its records as texts.
std::vector<std::string> Rest(ItemFileReader* reader, std::vector<ItemFilePosition>* positions) {
  std::vector<std::string> records;
  ItemFileRecord record;
  while (true) {
    const ItemFilePosition before = reader->position();
    if (positions != nullptr && positions->size() < kPositionsMax) positions->push_back(before);
    const absl::StatusOr<bool> has_record = reader->Next(&record);
    if (!has_record.ok()) {
      records.push_back(Cat("error: ", Sv(has_record.status().message())));
      return records;
    }
    if (!*has_record) return records;
    Check(reader->position().offset > before.offset, "a record has bytes");
    Check(record.line > before.line && record.line <= reader->position().line + 1, "a record is among its lines");
    Check(static_cast<int64_t>(record.text.size()) <= reader->position().offset - before.offset,
          "a text is in its file");
    records.push_back(Cat(record.line, record.item.ok() ? *record.item : "error", record.text));
  }
}

engine::ItemFileSource SourceOf(const std::string& path) {
  return {FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)), path};
}

void CheckFile(const std::string& path, const ItemFileOptions& options) {
  const daemon::JsonItemFiles files;
  const auto reader = files.OpenReader(SourceOf(path), options);
  if (!reader.ok()) return;
  std::vector<ItemFilePosition> positions;
  const std::vector<std::string> records = Rest(reader->get(), &positions);
  for (size_t i = 0; i < positions.size(); ++i) {
    const auto other = files.OpenReader(SourceOf(path), options);
    Check(other.ok() && (*other)->SkipTo(positions[i]).ok(), "a position can be found again");
    const std::vector<std::string> rest = Rest(other->get(), nullptr);
    Check(rest.size() + i == records.size() &&
              std::equal(rest.begin(), rest.end(), records.begin() + static_cast<std::ptrdiff_t>(i)),
          "skipping equals continuing");
  }
}

}  // namespace
}  // namespace armature::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view content = armature::fuzz::Text(data + 1, size - 1);
  // A file in memory.
  const int fd = memfd_create("item_file", MFD_CLOEXEC);
  armature::fuzz::Check(fd >= 0 && write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size()),
                        "there is memory for a file");
  armature::fuzz::CheckFile(armature::Cat("/proc/self/fd/", fd), armature::fuzz::OptionsOf(data[0]));
  close(fd);
  return 0;
}

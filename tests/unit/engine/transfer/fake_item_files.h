#ifndef ARMATURE_TESTS_UNIT_ENGINE_TRANSFER_FAKE_ITEM_FILES_H_
#define ARMATURE_TESTS_UNIT_ENGINE_TRANSFER_FAKE_ITEM_FILES_H_

// Item files for tests of jobs: a line is an item's wire form in hex. Other lines are errors, and a line "damage" ends
// the file with DATA_LOSS.

#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "engine/transfer/item_files.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::engine {

struct FakeHooks {
  std::function<void(int64_t line)> before_record;  // called before each record of a file is read
  std::function<absl::Status()> before_append;      // an error fails the write
};

class FakeReader final : public ItemFileReader {
 public:
  FakeReader(const ItemFileSource& source, std::shared_ptr<FakeHooks> hooks)
      : in_(Cat("/proc/self/fd/", source.file.get())), hooks_(std::move(hooks)) {}

  absl::Status SkipTo(ItemFilePosition position) override {
    std::string line;
    while (position_.offset < position.offset && std::getline(in_, line)) Count(line);
    return position_ == position ? absl::OkStatus() : absl::DataLossError("the text has changed");
  }
  absl::StatusOr<bool> Next(ItemFileRecord* record) override {
    if (hooks_->before_record) hooks_->before_record(position_.line + 1);
    std::string line;
    if (!std::getline(in_, line)) return false;
    if (line == "damage") return DataLossError("the file is damaged");
    Count(line);
    record->text = line;
    record->line = position_.line;
    const bool is_hex = line.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (is_hex) {
      record->item = absl::HexStringToBytes(line);
    } else {
      record->item = absl::InvalidArgumentError("no item");
    }
    return true;
  }
  ItemFilePosition position() const override { return position_; }
  int64_t bytes_read() const override { return position_.offset; }

 private:
  void Count(const std::string& line) {
    position_.offset += static_cast<int64_t>(line.size()) + 1;
    ++position_.line;
    for (const char c : line) position_.checksum = position_.checksum * 31 + static_cast<unsigned char>(c);
  }

  std::ifstream in_;
  const std::shared_ptr<FakeHooks> hooks_;
  ItemFilePosition position_;
};

class FakeWriter final : public ItemFileWriter {
 public:
  FakeWriter(std::string path, std::shared_ptr<FakeHooks> hooks) : path_(std::move(path)), hooks_(std::move(hooks)) {}

  absl::Status Append(std::string_view item) override { return AppendText(Sv(absl::BytesToHexString(Av(item)))); }
  absl::Status AppendText(std::string_view line) override {
    if (hooks_->before_append) ARM_RETURN_IF_ERROR(hooks_->before_append());
    text_ += Cat(line, "\n");
    ++items_;
    return absl::OkStatus();
  }
  int64_t bytes() const override { return static_cast<int64_t>(text_.size()); }
  absl::StatusOr<Finished> Finish() override {
    std::ofstream(path_) << text_;
    return Finished{items_, bytes(), absl::Base64Escape("md5")};
  }

 private:
  const std::string path_;
  const std::shared_ptr<FakeHooks> hooks_;
  std::string text_;
  int64_t items_ = 0;
};

class FakeItemFiles final : public ItemFiles {
 public:
  explicit FakeItemFiles(std::shared_ptr<FakeHooks> hooks) : hooks_(std::move(hooks)) {}

  absl::StatusOr<std::unique_ptr<ItemFileReader>> OpenReader(ItemFileSource source,
                                                             const ItemFileOptions&) const override {
    return std::make_unique<FakeReader>(source, hooks_);
  }
  absl::StatusOr<std::unique_ptr<ItemFileWriter>> CreateWriter(const ItemFileTarget& target,
                                                               const ItemFileOptions&) const override {
    return std::make_unique<FakeWriter>(PathOf(target), hooks_);
  }
  absl::StatusOr<ItemFileWriter::Finished> WriteTextFile(const ItemFileTarget& target,
                                                         std::string_view text) const override {
    std::ofstream(PathOf(target)) << text;
    return ItemFileWriter::Finished{0, static_cast<int64_t>(text.size()), absl::Base64Escape("md5")};
  }

 private:
  // The directory may have another path by now.
  static std::string PathOf(const ItemFileTarget& target) {
    return Cat("/proc/self/fd/", target.directory, "/", target.name);
  }

  const std::shared_ptr<FakeHooks> hooks_;
};

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_TRANSFER_FAKE_ITEM_FILES_H_

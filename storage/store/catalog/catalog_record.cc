#include "storage/store/catalog/catalog_record.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "glog/logging.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/strong_type.h"
#include "storage/model/wire.h"
#include "storage/store/records/catalog.pb.h"
#include "storage/store/records/transfer.pb.h"

namespace armature::store {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

template <class T>
concept Enum = std::is_enum_v<T>;
template <class T>
concept Id =
    std::same_as<T, TableId> || std::same_as<T, IndexId> || std::same_as<T, StreamId> || std::same_as<T, SegmentId>;
// A struct of the model that lists its fields by their names on disk.
template <class T>
concept Struct = requires(T& value) {
  T::VisitFields(value, [](const char*, const auto&) {});
};

const FieldDescriptor* FieldOf(const Message& message, const char* name) {
  const FieldDescriptor* const field = message.GetDescriptor()->FindFieldByName(name);
  CHECK(field != nullptr) << message.GetTypeName() << " has no field " << name;
  return field;
}

// Sets the fields of a message to the members of a struct.
class Writer {
 public:
  explicit Writer(Message* message) : message_(message), reflection_(*message->GetReflection()) {}

  template <class T>
  void operator()(const char* name, const T& member) const {
    Set(FieldOf(*message_, name), member);
  }

 private:
  void Set(const FieldDescriptor* field, bool value) const { reflection_.SetBool(message_, field, value); }
  void Set(const FieldDescriptor* field, int32_t value) const { reflection_.SetInt32(message_, field, value); }
  void Set(const FieldDescriptor* field, uint32_t value) const { reflection_.SetUInt32(message_, field, value); }
  void Set(const FieldDescriptor* field, int64_t value) const { reflection_.SetInt64(message_, field, value); }
  void Set(const FieldDescriptor* field, Id auto value) const { reflection_.SetUInt32(message_, field, value.value()); }
  void Set(const FieldDescriptor* field, ChangeSequence value) const {
    reflection_.SetUInt64(message_, field, value.value());
  }
  void Set(const FieldDescriptor* field, Enum auto value) const {
    reflection_.SetEnumValue(message_, field, static_cast<int>(value));
  }
  void Set(const FieldDescriptor* field, const std::string& value) const {
    reflection_.SetString(message_, field, value);
  }
  void Set(const FieldDescriptor* field, const std::vector<std::string>& values) const {
    for (const std::string& value : values) reflection_.AddString(message_, field, value);
  }
  void Set(const FieldDescriptor* field, const model::Tags& tags) const {
    for (const auto& [key, value] : tags) {
      const Writer write(reflection_.AddMessage(message_, field));
      write("key", key);
      write("value", value);
    }
  }
  // A message without content is left out: records of tables whose throughput never changed keep their first bytes.
  template <Struct T>
  void Set(const FieldDescriptor* field, const T& value) const {
    Message* const message = reflection_.MutableMessage(message_, field);
    T::VisitFields(value, Writer(message));
    if (message->ByteSizeLong() == 0) reflection_.ClearField(message_, field);
  }
  template <Struct T>
  void Set(const FieldDescriptor* field, const std::optional<T>& value) const {
    if (value.has_value()) T::VisitFields(*value, Writer(reflection_.MutableMessage(message_, field)));
  }
  template <Struct T>
  void Set(const FieldDescriptor* field, const std::vector<T>& values) const {
    for (const T& value : values) T::VisitFields(value, Writer(reflection_.AddMessage(message_, field)));
  }

  Message* const message_;
  const Reflection& reflection_;
};

// Sets the members of a struct to the fields of a message, and notes enum values that this build does not know.
class Reader {
 public:
  Reader(const Message& message, bool* is_known)
      : message_(message), reflection_(*message.GetReflection()), is_known_(is_known) {}

  template <class T>
  void operator()(const char* name, T& member) const {
    Get(FieldOf(message_, name), &member);
  }

 private:
  void Get(const FieldDescriptor* field, bool* to) const { *to = reflection_.GetBool(message_, field); }
  void Get(const FieldDescriptor* field, int32_t* to) const { *to = reflection_.GetInt32(message_, field); }
  void Get(const FieldDescriptor* field, uint32_t* to) const { *to = reflection_.GetUInt32(message_, field); }
  void Get(const FieldDescriptor* field, int64_t* to) const { *to = reflection_.GetInt64(message_, field); }
  template <Id T>
  void Get(const FieldDescriptor* field, T* to) const {
    *to = T(reflection_.GetUInt32(message_, field));
  }
  void Get(const FieldDescriptor* field, ChangeSequence* to) const {
    *to = ChangeSequence(reflection_.GetUInt64(message_, field));
  }
  template <Enum T>
  void Get(const FieldDescriptor* field, T* to) const {
    const int number = reflection_.GetEnumValue(message_, field);
    if (number != 0 && field->enum_type()->FindValueByNumber(number) != nullptr) {
      *to = static_cast<T>(number);
    } else {
      *is_known_ = false;
    }
  }
  void Get(const FieldDescriptor* field, std::string* to) const { *to = reflection_.GetString(message_, field); }
  void Get(const FieldDescriptor* field, std::vector<std::string>* to) const {
    for (int i = 0; i < Size(field); ++i) to->push_back(reflection_.GetRepeatedString(message_, field, i));
  }
  void Get(const FieldDescriptor* field, model::Tags* to) const {
    for (int i = 0; i < Size(field); ++i) {
      const Reader read = ReaderOf(reflection_.GetRepeatedMessage(message_, field, i));
      auto& [key, value] = to->emplace_back();
      read("key", key);
      read("value", value);
    }
  }
  template <Struct T>
  void Get(const FieldDescriptor* field, T* to) const {
    T::VisitFields(*to, ReaderOf(reflection_.GetMessage(message_, field)));
  }
  template <Struct T>
  void Get(const FieldDescriptor* field, std::optional<T>* to) const {
    if (reflection_.HasField(message_, field)) Get(field, &to->emplace());
  }
  template <Struct T>
  void Get(const FieldDescriptor* field, std::vector<T>* to) const {
    for (int i = 0; i < Size(field); ++i) {
      T::VisitFields(to->emplace_back(), ReaderOf(reflection_.GetRepeatedMessage(message_, field, i)));
    }
  }

  int Size(const FieldDescriptor* field) const { return reflection_.FieldSize(message_, field); }
  Reader ReaderOf(const Message& message) const { return {message, is_known_}; }

  const Message& message_;
  const Reflection& reflection_;
  bool* const is_known_;
};

bool HaveNames(const std::vector<model::KeyAttribute>& attributes) {
  return std::none_of(attributes.begin(), attributes.end(),
                      [](const model::KeyAttribute& attribute) { return attribute.name.empty(); });
}

bool IsKey(const model::KeySchema& key) {
  return !key.partition.empty() && HaveNames(key.partition) && HaveNames(key.sort);
}

bool HaveKeys(const std::vector<model::IndexDescriptor>& indexes) {
  return std::all_of(indexes.begin(), indexes.end(),
                     [](const model::IndexDescriptor& index) { return IsKey(index.key); });
}

constexpr char kBuildVersion = 1;

// A number of shards is a divisor.
bool AreShardCounts(const model::StreamDescriptor& stream) {
  return (stream.next_shards == 0 || model::IsShardCount(stream.next_shards)) &&
         std::all_of(stream.shard_counts.begin(), stream.shard_counts.end(),
                     [](const model::ShardCount& count) { return model::IsShardCount(count.shards); });
}

}  // namespace

std::string EncodeTableRecord(const model::TableDescriptor& descriptor) {
  disk::v1::TableRecord record;
  model::TableDescriptor::VisitFields(descriptor, Writer(&record));
  std::string value(1, kTableRecordVersion);
  record.AppendToString(&value);
  return value;
}

absl::StatusOr<model::TableDescriptor> ParseTableRecord(std::string_view value) {
  if (value.empty() || value[0] != kTableRecordVersion) {
    return DataLossError("table record: expected version 1");
  }
  value.remove_prefix(1);
  disk::v1::TableRecord record;
  if (!record.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return DataLossError("table record: malformed");
  }
  model::TableDescriptor descriptor;
  bool is_known = true;
  model::TableDescriptor::VisitFields(descriptor, Reader(record, &is_known));
  for (model::IndexDescriptor& index : descriptor.local_indexes) index.kind = model::IndexKind::kLocal;
  if (!is_known || descriptor.id == TableId(0) || descriptor.name.empty() || !IsKey(descriptor.key) ||
      !HaveNames(descriptor.attribute_definitions) || !HaveKeys(descriptor.local_indexes) ||
      !HaveKeys(descriptor.global_indexes) ||
      (descriptor.settings.stream_shards != 0 && !model::IsShardCount(descriptor.settings.stream_shards))) {
    return DataLossError(Cat("table record ", descriptor.name, ": holds values this build does not know"));
  }
  return descriptor;
}

std::string EncodeStreamDescriptor(const model::StreamDescriptor& descriptor) {
  disk::v1::StreamRecord record;
  model::StreamDescriptor::VisitFields(descriptor, Writer(&record));
  std::string value(1, kStreamRecordVersion);
  record.AppendToString(&value);
  return value;
}

absl::StatusOr<model::StreamDescriptor> ParseStreamDescriptor(std::string_view value) {
  if (value.empty() || value[0] != kStreamRecordVersion) return DataLossError("stream record: expected version 1");
  value.remove_prefix(1);
  disk::v1::StreamRecord record;
  if (!record.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return DataLossError("stream record: malformed");
  }
  model::StreamDescriptor descriptor;
  bool is_known = true;
  model::StreamDescriptor::VisitFields(descriptor, Reader(record, &is_known));
  if (!is_known || descriptor.id == StreamId(0) || descriptor.table_name.empty() || descriptor.label.empty() ||
      !IsKey(descriptor.key) || descriptor.first_segment == SegmentId(0) || !AreShardCounts(descriptor)) {
    return DataLossError(
        Cat("stream record ", descriptor.table_name, " ", descriptor.label, ": holds values this build does not know"));
  }
  return descriptor;
}

std::string EncodeTransferRecord(const model::TransferRecord& record) {
  disk::v1::TransferRecord message;
  model::TransferRecord::VisitFields(record, Writer(&message));
  std::string value(1, kTransferRecordVersion);
  message.AppendToString(&value);
  return value;
}

absl::StatusOr<model::TransferRecord> ParseTransferRecord(std::string_view value) {
  if (value.empty() || value[0] != kTransferRecordVersion) return DataLossError("transfer record: expected version 1");
  value.remove_prefix(1);
  disk::v1::TransferRecord message;
  if (!message.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return DataLossError("transfer record: malformed");
  }
  model::TransferRecord record;
  bool is_known = true;
  model::TransferRecord::VisitFields(record, Reader(message, &is_known));
  if (!is_known || record.arn.empty()) {
    return DataLossError(Cat("transfer record ", record.arn, ": holds values this build does not know"));
  }
  return record;
}

std::string EncodeBuildState(const BuildState& state) {
  std::string value(1, kBuildVersion);
  for (const uint64_t number :
       {static_cast<uint64_t>(state.phase), state.from_sequence.value(), state.through_sequence.value(),
        static_cast<uint64_t>(state.scanned), static_cast<uint64_t>(state.written),
        static_cast<uint64_t>(state.skipped), static_cast<uint64_t>(state.started_ms),
        static_cast<uint64_t>(state.next_key.size())}) {
    model::AppendVarint(number, &value);
  }
  value.append(state.next_key);
  return value;
}

absl::StatusOr<BuildState> ParseBuildState(std::string_view value) {
  if (value.empty() || value[0] != kBuildVersion) return DataLossError("build record: expected version 1");
  value.remove_prefix(1);
  uint64_t numbers[8] = {};
  for (uint64_t& number : numbers) {
    if (!model::TakeVarint(&value, &number)) return DataLossError("build record: expected eight varints");
  }
  if (numbers[0] > static_cast<uint64_t>(BuildPhase::kCatchingUp)) {
    return DataLossError("build record: holds a phase that this build does not know");
  }
  if (numbers[7] != value.size()) return DataLossError("build record: expected a key of the given length at its end");
  BuildState state;
  state.phase = static_cast<BuildPhase>(numbers[0]);
  state.from_sequence = ChangeSequence(numbers[1]);
  state.through_sequence = ChangeSequence(numbers[2]);
  state.scanned = static_cast<int64_t>(numbers[3]);
  state.written = static_cast<int64_t>(numbers[4]);
  state.skipped = static_cast<int64_t>(numbers[5]);
  state.started_ms = static_cast<int64_t>(numbers[6]);
  state.next_key = std::string(value);
  return state;
}

}  // namespace armature::store

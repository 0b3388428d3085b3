#include "daemon/message_json/message_names.h"

#include <array>
#include <cctype>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace armature::daemon {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;

constexpr std::string_view kTimeSuffix = "_time_ms";

// ---------------------------------------------------------------------------------------------------------------
// Exceptions: apart from these, the documented JSON follows from the messages.

// Fields whose JSON form does not follow from their names.
struct FieldException {
  std::string_view field;
  std::string_view json_name;
  NumberForm form = NumberForm::kPlain;
  bool is_always_written = false;
};
constexpr FieldException kFieldExceptions[] = {
    {"armature.api.v1.ListBackupsRequest.time_range_lower_bound_ms", "TimeRangeLowerBound", NumberForm::kTime},
    {"armature.api.v1.ListBackupsRequest.time_range_upper_bound_ms", "TimeRangeUpperBound", NumberForm::kTime},
    {"armature.api.v1.IndexBacklog.age_ms", "AgeSeconds", NumberForm::kWholeSeconds},
    {"armature.api.v1.GetShardIteratorRequest.timestamp_ms", "Timestamp", NumberForm::kTime},
    {"armature.api.v1.Tag.value", "Value", NumberForm::kPlain, true},
    {"armature.api.v1.StreamDescription.shards", "Shards", NumberForm::kPlain, true},
    {"armature.api.v1.ChangeRecord.event_id", "eventID"},
    {"armature.api.v1.ChangeRecord.event_name", "eventName"},
    {"armature.api.v1.ChangeRecord.event_version", "eventVersion"},
    {"armature.api.v1.ChangeRecord.event_source", "eventSource"},
    {"armature.api.v1.ChangeRecord.aws_region", "awsRegion"},
    {"armature.api.v1.ChangeRecord.dynamodb", "dynamodb"},
    {"armature.api.v1.ChangeRecord.user_identity", "userIdentity"},
    {"armature.api.v1.StreamRecord.approximate_creation_date_time_ms", "ApproximateCreationDateTime",
     NumberForm::kWholeSeconds},
};

// Members that are documented but not available. Requests with them get an error.
struct NotAvailable {
  std::string_view message;
  std::string_view member;
};
constexpr NotAvailable kNotAvailable[] = {
    {"armature.api.v1.CreateTableRequest", "GlobalTableSourceArn"},
    {"armature.api.v1.CreateTableRequest", "GlobalTableSettingsReplicationMode"},
    {"armature.api.v1.CreateTableRequest", "VectorIndexes"},
    {"armature.api.v1.UpdateTableRequest", "ReplicaUpdates"},
    {"armature.api.v1.UpdateTableRequest", "MultiRegionConsistency"},
    {"armature.api.v1.UpdateTableRequest", "GlobalTableWitnessUpdates"},
    {"armature.api.v1.UpdateTableRequest", "GlobalTableSettingsReplicationMode"},
    {"armature.api.v1.UpdateTableRequest", "VectorIndexUpdates"},
    {"armature.api.v1.UpdateTableRequest", "DisassociationProtectionEnabled"},
    {"armature.api.v1.RestoreTableFromBackupRequest", "VectorIndexOverride"},
    {"armature.api.v1.RestoreTableToPointInTimeRequest", "VectorIndexOverride"},
    {"armature.api.v1.ExportTableToPointInTimeRequest", "IncrementalExportSpecification"},
    {"armature.api.v1.ExportTableToPointInTimeRequest", "FilterSpecification"},
    {"armature.api.v1.TableCreationParameters", "VectorIndexes"},
};

// ---------------------------------------------------------------------------------------------------------------

// The common prefix of an enum's value names, such as "KEY_TYPE_", taken from the zero value.
std::string_view EnumPrefix(const EnumDescriptor& type) {
  constexpr std::string_view kZero = "UNSPECIFIED";
  std::string_view zero = type.value(0)->name();
  if (zero.ends_with(kZero)) zero.remove_suffix(kZero.size());
  return zero;
}

// Abbreviations in capitals.
std::string WithCapitals(std::string name) {
  if (name.starts_with("Sse")) name.replace(0, 3, "SSE");
  if (name.starts_with("Kms")) name.replace(0, 3, "KMS");
  if (name.ends_with("Gb")) name.replace(name.size() - 2, 2, "GB");
  return name;
}

JsonShape::Member MakeMember(const FieldDescriptor& field, Dialect dialect) {
  JsonShape::Member member{&field, JsonName(field.name()), IsTime(field) ? NumberForm::kTime : NumberForm::kPlain};
  for (const FieldException& exception : kFieldExceptions) {
    if (exception.field != field.full_name()) continue;
    if (dialect == Dialect::kTools && exception.form != NumberForm::kPlain) continue;
    member.name = std::string(exception.json_name);
    member.form = exception.form;
    member.is_always_written = exception.is_always_written && dialect == Dialect::kProtocol;
  }
  return member;
}

JsonShape MakeShape(const Descriptor& type, Dialect dialect) {
  JsonShape shape;
  shape.name = WithCapitals(type.name());
  for (int i = 0; i < type.field_count(); ++i) {
    shape.members.push_back(MakeMember(*type.field(i), dialect));
    shape.by_name.emplace(shape.members.back().name, shape.members.size() - 1);
  }
  for (const auto& [message, member] : kNotAvailable) {
    if (message == type.full_name()) shape.not_available.push_back(member);
  }
  return shape;
}

}  // namespace

std::string JsonName(std::string_view field_name) {
  if (field_name.ends_with(kTimeSuffix)) field_name.remove_suffix(3);
  std::string name;
  bool upper = true;
  for (const char c : field_name) {
    if (c == '_') {
      upper = true;
    } else {
      name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      upper = false;
    }
  }
  return WithCapitals(std::move(name));
}

bool IsTime(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_INT64 && field.name().ends_with(kTimeSuffix);
}

std::string_view EnumText(const EnumValueDescriptor& value) {
  return std::string_view(value.name()).substr(EnumPrefix(*value.type()).size());
}

std::string EnumText(const EnumDescriptor& type, int number) {
  const EnumValueDescriptor* const named = type.FindValueByNumber(number);
  return named == nullptr ? std::to_string(number) : std::string(EnumText(*named));
}

const EnumValueDescriptor* FindEnumValue(const EnumDescriptor& type, std::string_view text) {
  const EnumValueDescriptor* const value = type.FindValueByName(Cat(EnumPrefix(type), text));
  return value != nullptr && value->number() != 0 ? value : nullptr;
}

const FieldDescriptor* WrappedList(const Descriptor& type) {
  const bool wraps = type.field_count() == 1 && type.field(0)->is_repeated() && type.name().ends_with("List");
  return wraps ? type.field(0) : nullptr;
}

const JsonShape& ShapeOf(const Descriptor& type, Dialect dialect) {
  static absl::Mutex mutex(absl::kConstInit);
  static auto* const kShapes =
      new std::array<absl::flat_hash_map<const Descriptor*, std::unique_ptr<const JsonShape>>, 2>;
  const absl::MutexLock lock(&mutex);
  std::unique_ptr<const JsonShape>& shape = (*kShapes)[static_cast<size_t>(dialect)][&type];
  if (shape == nullptr) shape = std::make_unique<const JsonShape>(MakeShape(type, dialect));
  return *shape;
}

}  // namespace armature::daemon

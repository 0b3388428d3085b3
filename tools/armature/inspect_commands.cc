#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/meta_keys.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/inspect/inspection.h"
#include "tools/armature/inspect/record_json.h"

namespace armature::cli {
namespace {

constexpr int64_t kLimitDefault = 100;

struct InspectOptions {
  std::string data_dir;
  std::string table_name;
  std::string index_name;
  std::string family;
  std::string start_hex;
  std::string key_hex;
  int64_t limit = kLimitDefault;  // 0: no limit
  uint64_t from = 0;
};

absl::StatusOr<std::unique_ptr<Inspection>> Open(const InspectOptions& options) {
  if (options.data_dir.empty()) return UsageError("--data-dir is required");
  return Inspection::Open(options.data_dir);
}

// The problems as lines after a table. Empty without problems.
std::string ProblemLines(const std::vector<std::string>& problems) {
  std::string lines;
  for (const std::string& problem : problems) lines += Cat("problem: ", problem, "\n");
  return lines;
}

// Prints an answer with any number of records while they are read. In JSON: one object, whose list has one record on
// each line. As a table: the header is repeated after some hundreds of rows, with the column widths of the following
// rows.
class RecordWriter {
 public:
  // `head`: members before the list. `list`: the name of the list. `columns`: before those of the problems.
  RecordWriter(const Session& session, Inspection* inspection, const Json& head, const std::string& list,
               std::vector<std::string> columns)
      : session_(session),
        inspection_(inspection),
        is_json_(session.format() == OutputFormat::kJson),
        columns_(std::move(columns)) {
    columns_.emplace_back("PROBLEMS");
    if (!is_json_) return;
    std::string text = "{\n";
    for (const auto& [name, value] : head.items()) text += Member(name, value) + ",\n";
    session_.PrintText(Cat(text, "    ", CompactJson(Json(list)), ": ["));
  }

  // Number of records so far.
  int64_t count() const { return count_; }

  // `value`: the stored bytes. `cells` makes the row of a table, without the problems.
  template <class Cells>
  void Add(const Decoded& record, std::string_view value, Cells cells) {
    if (!record.problems.empty()) inspection_->AddDamagedRecord();
    if (is_json_) {
      session_.PrintText(Cat(count_ == 0 ? "\n        " : ",\n        ", CompactJson(WithProblems(record, value))));
    } else {
      rows_.push_back(cells());
      rows_.back().push_back(absl::StrJoin(record.problems, "; "));
      if (rows_.size() >= kTableRowsMax) PrintTable();
    }
    ++count_;
  }

  // Prints the problems of the inspection and concludes it. `more`: members about the records beyond the limit.
  absl::Status Finish(const Json& more = Json::object()) {
    if (is_json_) {
      std::string text = Cat(count_ == 0 ? "]" : "\n    ]", ",\n", Member("Problems", Json(inspection_->problems())));
      for (const auto& [name, value] : more.items()) text += ",\n" + Member(name, value);
      session_.PrintText(text + "\n}\n");
    } else {
      if (!rows_.empty() || count_ == 0) PrintTable();
      for (const auto& [name, value] : more.items()) {
        session_.PrintText(Cat("more: ", name, " ", ShowValue(value), "\n"));
      }
      session_.PrintText(ProblemLines(inspection_->problems()));
    }
    return inspection_->Conclude();
  }

 private:
  static constexpr size_t kTableRowsMax = 500;

  static std::string Member(const std::string& name, const Json& value) {
    return Cat("    ", CompactJson(Json(name)), ": ", CompactJson(value));
  }

  void PrintTable() {
    TextTable table(columns_);
    for (std::vector<std::string>& row : rows_) table.AddRow(std::move(row));
    session_.PrintText(table.ToString());
    rows_.clear();
  }

  const Session& session_;
  Inspection* const inspection_;
  const bool is_json_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;  // not printed yet
  int64_t count_ = 0;
};

// The bytes of a key in hex.
absl::StatusOr<std::string> FromHex(const std::string& hex) {
  const bool is_hex = hex.size() % 2 == 0 && hex.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  if (!is_hex) return UsageError(Cat("\"", hex, "\" is no key in hex"));
  return absl::HexStringToBytes(hex);
}

Json FamilyToJson(const store::FamilyFiles& family, const Tables& tables) {
  Json json = Json::object();
  json["Family"] = family.name;
  json["Kind"] = FamilyKindName(KindOfFamily(family.name));
  const FamilyOwner owner = tables.OwnerOf(family.name);
  if (owner.table != nullptr) json["TableName"] = owner.table->name;
  if (owner.index != nullptr) json["IndexName"] = owner.index->name;
  if (const auto* const totals = tables.TotalsOf(family.name); totals != nullptr) json["Rows"] = totals->items;
  json["RowsEstimate"] = family.rows_estimate;
  json["LogRowsEstimate"] = family.memory_rows;
  json["FileBytes"] = family.file_bytes;
  json["Files"] = family.files;
  json["Levels"] = family.levels;
  return json;
}

// True if the family is lost. It is made before the first write, and its totals are written with its first row.
bool IsLost(const Inspection& inspection, const std::string& family) {
  return !inspection.store().HasFamily(family) && inspection.tables().TotalsOf(family) != nullptr;
}

// Adds a problem for each missing family of an active table or index that had rows.
void CheckFamilies(Inspection* inspection) {
  if (inspection->store().Families().empty()) return;
  for (const auto& [id, table] : inspection->tables().all()) {
    if (table.state != model::TableState::kActive && table.state != model::TableState::kUpdating) continue;
    if (IsLost(*inspection, store::DataFamilyName(id))) {
      inspection->AddProblem(Cat("table ", table.name, ": family ", store::DataFamilyName(id), " is missing"));
    }
    for (const model::IndexDescriptor* const index : table.indexes()) {
      const std::string family = FamilyOf(table, *index);
      if (index->state != model::IndexState::kActive || !IsLost(*inspection, family)) continue;
      inspection->AddProblem(Cat("index ", index->name, " of table ", table.name, ": family ", family, " is missing"));
    }
  }
}

absl::Status Directory(const Session& session, const InspectOptions& options) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<Inspection> inspection, Open(options));
  inspection->LoadTables();
  CheckFamilies(inspection.get());
  const store::Inspector& store = inspection->store();
  Json result = Json::object();
  result["Path"] = store.path();
  result["FormatVersion"] = store.format().version;
  result["DatabaseId"] = store.format().database_id;
  result["IsNew"] = store.is_new();
  result["Families"] = Json::array();
  for (const store::FamilyFiles& family : store.Families()) {
    result["Families"].push_back(FamilyToJson(family, inspection->tables()));
  }
  result["Problems"] = inspection->problems();
  session.Print(result, [&] {
    const std::vector<std::string> columns = {"Family",       "Kind",      "TableName", "IndexName", "Rows",
                                              "RowsEstimate", "FileBytes", "Files",     "Levels"};
    return Cat(DetailsTable(result), "\n", RecordsTable(result["Families"], columns),
               ProblemLines(inspection->problems()));
  });
  return inspection->Conclude();
}

// Adds the row of a table (`index` is empty) or of an index with its JSON.
void AddCatalogRow(const std::string& table, const std::string& index, const model::KeySchema& key, const Json& json,
                   TextTable* text) {
  text->AddRow({table, index, CompactJson(json[index.empty() ? "TableId" : "IndexId"]),
                json["State"].get<std::string>(), KeySchemaText(key), json["Family"].get<std::string>(),
                CompactJson(json["Totals"]["Rows"]), CompactJson(json["Totals"]["Bytes"])});
}

absl::Status ShowCatalog(const Session& session, const InspectOptions& options) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<Inspection> inspection, Open(options));
  inspection->LoadTables();
  CheckFamilies(inspection.get());
  Json result = Json::object();
  result["Tables"] = Json::array();
  TextTable text({"TABLE", "INDEX", "ID", "STATE", "KEY", "FAMILY", "ROWS", "BYTES"});
  for (const auto& [id, table] : inspection->tables().all()) {
    Json json = TableToJson(table, inspection->tables());
    AddCatalogRow(table.name, "", table.key, json, &text);
    for (size_t i = 0; i < table.local_indexes.size(); ++i) {
      AddCatalogRow(table.name, table.local_indexes[i].name, table.local_indexes[i].key, json["LocalIndexes"][i],
                    &text);
    }
    for (size_t i = 0; i < table.global_indexes.size(); ++i) {
      AddCatalogRow(table.name, table.global_indexes[i].name, table.global_indexes[i].key, json["GlobalIndexes"][i],
                    &text);
    }
    result["Tables"].push_back(std::move(json));
  }
  result["Problems"] = inspection->problems();
  session.Print(result, [&] { return Cat(text.ToString(), ProblemLines(inspection->problems())); });
  return inspection->Conclude();
}

// The family selected by the options.
absl::StatusOr<std::string> FamilyToRead(const InspectOptions& options, const Inspection& inspection) {
  if (options.family.empty() == options.table_name.empty()) {
    return UsageError("either --table-name or --family is required");
  }
  std::string family = options.family;
  if (family.empty()) {
    const model::TableDescriptor* const table = inspection.tables().Find(options.table_name);
    if (table == nullptr) {
      return UsageError(Cat("the catalog has no table ", options.table_name,
                            inspection.problems().empty() ? "" : " that can be read; --family needs no catalog"));
    }
    family = store::DataFamilyName(table->id);
    if (!options.index_name.empty()) {
      const model::IndexDescriptor* const index = table->FindIndex(options.index_name);
      if (index == nullptr) return UsageError(Cat("table ", table->name, " has no index ", options.index_name));
      family = FamilyOf(*table, *index);
    }
  } else if (!options.index_name.empty()) {
    return UsageError("--index-name needs --table-name");
  }
  const bool is_unwritten = !options.table_name.empty() && inspection.tables().TotalsOf(family) == nullptr;
  if (!inspection.store().Families().empty() && !inspection.store().HasFamily(family) && !is_unwritten) {
    return UsageError(Cat("the database has no family ", family));
  }
  const FamilyKind kind = KindOfFamily(family);
  if (kind == FamilyKind::kExpiry) return UsageError(Cat("family ", family, " has no rows of items"));
  if (kind == FamilyKind::kMeta || kind == FamilyKind::kLog || kind == FamilyKind::kStream) {
    return UsageError(Cat("family ", family, " has no rows of items: see armature inspect ", family));
  }
  return family;
}

absl::Status Rows(const Session& session, const InspectOptions& options) {
  ARM_ASSIGN_OR_RETURN(const std::string start, FromHex(options.start_hex));
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<Inspection> inspection, Open(options));
  inspection->LoadTables();
  ARM_ASSIGN_OR_RETURN(const std::string family, FamilyToRead(options, *inspection));
  const bool is_collections = KindOfFamily(family) == FamilyKind::kCollections;
  const KeyLayout layout = inspection->tables().LayoutOf(family);
  RecordWriter writer(session, inspection.get(), Json{{"Family", family}}, "Rows",
                      is_collections ? std::vector<std::string>{"KEY", "COMPONENTS", "BYTES"}
                                     : std::vector<std::string>{"KEY", "COMPONENTS", "SIZE", "ITEM"});
  Json more = Json::object();
  const bool is_made = inspection->store().Families().empty() || inspection->store().HasFamily(family);
  const auto write = [&](std::string_view key, std::string_view value) {
    if (options.limit > 0 && writer.count() == options.limit) {
      more["NextKeyHex"] = Hex(key);
      return store::RowVerdict::kStop;
    }
    const Decoded row = is_collections ? DecodeCollection(key, value, layout) : DecodeRow(key, value, layout);
    writer.Add(row, value, [&] {
      const auto cell = [&row](const char* name) { return row.json.contains(name) ? CompactJson(row.json[name]) : ""; };
      const std::string components = row.json.contains("Components") ? ComponentsText(row.json["Components"]) : "";
      return is_collections ? std::vector<std::string>{Hex(key), components, cell("CollectionBytes")}
                            : std::vector<std::string>{Hex(key), components, cell("ItemSize"), cell("Item")};
    });
    return store::RowVerdict::kContinue;
  };
  if (is_made) inspection->Walk(family, {start, ""}, write);
  return writer.Finish(more);
}

std::vector<std::string> LogCells(const Decoded& record) {
  const auto cell = [&record](const char* name) {
    if (!record.json.contains(name)) return std::string();
    const Json& value = record.json[name];
    return value.is_string() ? value.get<std::string>() : CompactJson(value);
  };
  std::string table = cell("TableName");
  if (table.empty()) table = cell("TableId");
  std::string base;
  if (record.json.contains("BaseKey") && record.json["BaseKey"].contains("Components")) {
    base = ComponentsText(record.json["BaseKey"]["Components"]);
  }
  std::string changes;
  if (record.json.contains("Changes")) {
    for (const Json& change : record.json["Changes"]) {
      const Json& index = change.contains("IndexName") ? change["IndexName"] : change["IndexId"];
      changes += Cat(changes.empty() ? "" : ", ", change["Kind"].get<std::string>(), " ", CompactJson(index));
    }
  }
  return {cell("Sequence"), table, base, changes};
}

absl::Status Log(const Session& session, const InspectOptions& options) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<Inspection> inspection, Open(options));
  inspection->LoadTables();
  store::KeyRange range;
  if (!options.table_name.empty()) {
    const model::TableDescriptor* const table = inspection->tables().Find(options.table_name);
    if (table == nullptr) return UsageError(Cat("the catalog has no table ", options.table_name));
    range.begin = store::LogKey(table->id, ChangeSequence(options.from));
    range.end = store::LogKey(TableId(table->id.value() + 1), ChangeSequence(0));
  }
  RecordWriter writer(session, inspection.get(), Json::object(), "Records", {"SEQUENCE", "TABLE", "ITEM", "CHANGES"});
  Json more = Json::object();
  inspection->Walk(store::kLogFamily, range, [&](std::string_view key, std::string_view value) {
    const std::optional<ChangeSequence> sequence = store::SequenceOfLogKey(key);
    if (sequence.has_value() && sequence->value() < options.from) return store::RowVerdict::kContinue;
    if (options.limit > 0 && writer.count() == options.limit) {
      more["MoreRecords"] = true;
      if (!range.end.empty() && sequence.has_value()) more["NextSequence"] = sequence->value();
      return store::RowVerdict::kStop;
    }
    const Decoded record = DecodeLogRecord(key, value, inspection->tables());
    writer.Add(record, value, [&record] { return LogCells(record); });
    return store::RowVerdict::kContinue;
  });
  return writer.Finish(more);
}

absl::Status StreamRecords(const Session& session, const InspectOptions& options) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<Inspection> inspection, Open(options));
  RecordWriter writer(session, inspection.get(), Json::object(), "Records", {"SEQUENCE", "STREAM", "EVENT", "RECORD"});
  Json more = Json::object();
  inspection->Walk(store::kStreamFamily, {}, [&](std::string_view key, std::string_view value) {
    if (options.limit > 0 && writer.count() == options.limit) {
      more["MoreRecords"] = true;
      return store::RowVerdict::kStop;
    }
    const Decoded record = DecodeStreamRecord(key, value);
    writer.Add(record, value, [&record] {
      const auto cell = [&record](const char* name) {
        return record.json.contains(name) ? CompactJson(record.json[name]) : std::string("?");
      };
      Json rest = record.json;
      for (const char* const shown : {"Sequence", "StreamId", "Event"}) rest.erase(shown);
      return std::vector<std::string>{cell("Sequence"), cell("StreamId"), cell("Event"), CompactJson(rest)};
    });
    return store::RowVerdict::kContinue;
  });
  return writer.Finish(more);
}

absl::Status Meta(const Session& session, const InspectOptions& options) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<Inspection> inspection, Open(options));
  RecordWriter writer(session, inspection.get(), Json::object(), "Records", {"KIND", "RECORD"});
  inspection->Walk(store::kMetaFamily, {}, [&](std::string_view key, std::string_view value) {
    const Decoded record = MetaRecordToJson(key, store::ParseMetaRecord(key, value));
    writer.Add(record, value, [&record] {
      Json rest = record.json;
      rest.erase("Kind");
      return std::vector<std::string>{record.json["Kind"].get<std::string>(), CompactJson(rest)};
    });
    return store::RowVerdict::kContinue;
  });
  return writer.Finish();
}

absl::Status InspectKey(const Session& session, const InspectOptions& options) {
  ARM_ASSIGN_OR_RETURN(const std::string key, FromHex(options.key_hex));
  const Decoded decoded = DecodeKey(key, KeyLayout());
  Json json = decoded.json;
  json["Problems"] = decoded.problems;
  session.Print(json, [&] {
    std::string components;
    if (json.contains("Components")) components = Cat(ComponentsText(json["Components"]), "\n");
    return Cat(DetailsTable(json), components, ProblemLines(decoded.problems));
  });
  return decoded.problems.empty() ? absl::OkStatus() : InputError(decoded.problems.front());
}

using InspectRun = absl::Status (*)(const Session&, const InspectOptions&);
using Options = std::shared_ptr<InspectOptions>;

void AddDataDir(CLI::App& command, const Options& options) {
  command.add_option("--data-dir", options->data_dir, "The data directory of a daemon that is stopped")
      ->type_name("DIR");
}

// Adds a command that reads a directory.
CLI::App& AddCommand(CLI::App& group, const char* name, const char* description, InspectRun run, const Options& options,
                     Action* action) {
  CLI::App& command = *group.add_subcommand(name, description);
  AddDataDir(command, options);
  SetAction(command, action, [options, run](const Session& session) { return run(session, *options); });
  return command;
}

void AddLimit(CLI::App& command, const Options& options) {
  command.add_option("--limit", options->limit, "At most so many; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("N");
}

void AddRowsCommand(CLI::App& group, const Options& options, Action* action) {
  CLI::App& rows = AddCommand(group, "rows", "Rows of a table or an index", Rows, options, action);
  rows.add_option("--table-name", options->table_name, "The table")->type_name("NAME");
  rows.add_option("--index-name", options->index_name, "This index of it")->type_name("NAME");
  rows.add_option("--family", options->family, "A family by its name, such as t1, l1.2, g1.3 or c1")->type_name("NAME");
  rows.add_option("--start", options->start_hex, "Begin at this key, or at the first behind it")->type_name("HEX");
  AddLimit(rows, options);
  rows.footer(
      "A row that is damaged has the reasons beside it. --family needs no catalog; that of c1 are sizes of item\n"
      "collections.\n\n"
      "Examples:\n  armature inspect rows --data-dir /var/lib/armature --table-name Orders --limit 10\n"
      "  armature inspect rows --data-dir /var/lib/armature --family g1.3 --start b3b91bbd\n");
}

}  // namespace

void AddInspectCommands(CLI::App& app, Action* action) {
  CLI::App& group = *app.add_subcommand("inspect", "Show what is in the data directory of a stopped daemon");
  group.require_subcommand(1);
  const auto options = std::make_shared<InspectOptions>();
  AddDataDir(group, options);
  group.footer(
      "Nothing in the directory is changed, and damage stops nothing: what cannot be read is named, all else is "
      "shown.\n"
      "Exit codes: 0, 2 if a daemon runs or there is no database, 5 if something cannot be read.\n\n"
      "Examples:\n  armature inspect directory --data-dir /var/lib/armature\n"
      "  armature inspect key b3b91bbd3061000122828c\n");
  AddCommand(group, "directory", "Format, database id, and families with their files", Directory, options, action);
  AddCommand(group, "catalog", "Tables and indexes with all that is stored of them", ShowCatalog, options, action);
  AddRowsCommand(group, options, action);
  CLI::App& log = AddCommand(group, "log", "Records of the change log behind global indexes", Log, options, action);
  log.add_option("--table-name", options->table_name, "This table; else all tables")->type_name("NAME");
  log.add_option("--from", options->from, "From this change sequence on")->type_name("SEQ");
  AddLimit(log, options);
  CLI::App& stream = AddCommand(group, "stream", "Records of the streams of tables", StreamRecords, options, action);
  AddLimit(stream, options);
  AddCommand(group, "meta", "All records of the family meta", Meta, options, action);
  CLI::App& key = *group.add_subcommand("key", "Take a key apart; needs no directory");
  key.add_option("hex", options->key_hex, "The key")->required()->type_name("HEX");
  SetAction(key, action, [options](const Session& session) { return InspectKey(session, *options); });
}

}  // namespace armature::cli

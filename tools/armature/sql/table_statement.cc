#include "tools/armature/sql/table_statement.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

// More than any table has: it bounds the work, the daemon knows the limits.
constexpr size_t kPartsMax = 200;

constexpr std::array<std::pair<std::string_view, api::v1::StreamViewType>, 5> kStreamWords = {
    std::pair{"OFF", api::v1::STREAM_VIEW_TYPE_UNSPECIFIED},
    std::pair{"KEYS_ONLY", api::v1::STREAM_VIEW_TYPE_KEYS_ONLY},
    std::pair{"NEW_IMAGE", api::v1::STREAM_VIEW_TYPE_NEW_IMAGE},
    std::pair{"OLD_IMAGE", api::v1::STREAM_VIEW_TYPE_OLD_IMAGE},
    std::pair{"NEW_AND_OLD_IMAGES", api::v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES}};

bool IsType(const SqlToken& token) {
  return token.kind == SqlTokenKind::kWord && token.text.size() == 1 &&
         std::string_view("SNBsnb").find(token.text[0]) != std::string_view::npos;
}

class TableParser {
 public:
  explicit TableParser(const std::vector<SqlToken>& tokens) : tokens_(tokens) {}

  absl::StatusOr<TableStatement> Run() {
    ARM_RETURN_IF_ERROR(ReadStatement());
    ARM_RETURN_IF_ERROR(tokens_.TakeEnd());
    return std::move(made_);
  }

 private:
  using Kind = TableStatement::Kind;

  absl::Status ReadTable() {
    ARM_ASSIGN_OR_RETURN(made_.table, tokens_.TakeName("a table"));
    return absl::OkStatus();
  }

  absl::Status ReadStatement() {
    if (tokens_.TryWord("SHOW")) return ReadShow();
    if (tokens_.TryWord("DESCRIBE") || tokens_.TryWord("DESC")) {
      made_.kind = Kind::kDescribe;
      tokens_.TryWord("TABLE");
      return ReadTable();
    }
    if (tokens_.TryWord("CREATE")) return ReadCreate();
    if (tokens_.TryWord("ALTER")) return ReadAlter();
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("DROP"));
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("TABLE"));
    made_.kind = Kind::kDrop;
    if (tokens_.TryWord("IF")) {
      ARM_RETURN_IF_ERROR(tokens_.TakeWord("EXISTS"));
      made_.is_tolerant = true;
    }
    return ReadTable();
  }

  absl::Status ReadShow() {
    if (tokens_.TryWord("TABLES")) return absl::OkStatus();
    if (tokens_.TryWord("CREATE")) {
      ARM_RETURN_IF_ERROR(tokens_.TakeWord("TABLE"));
      made_.kind = Kind::kShowCreate;
      return ReadTable();
    }
    if (!tokens_.TryWord("INDEXES") && !tokens_.TryWord("INDEX")) {
      return tokens_.Expected("TABLES, INDEXES OF or CREATE TABLE");
    }
    made_.kind = Kind::kShowIndexes;
    if (!tokens_.TryWord("OF") && !tokens_.TryWord("FROM")) return tokens_.Expected("OF");
    return ReadTable();
  }

  absl::Status ReadCreate() {
    made_.kind = Kind::kCreate;
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("TABLE"));
    if (tokens_.TryWord("IF")) {
      ARM_RETURN_IF_ERROR(tokens_.TakeWord("NOT"));
      ARM_RETURN_IF_ERROR(tokens_.TakeWord("EXISTS"));
      made_.is_tolerant = true;
    }
    ARM_RETURN_IF_ERROR(ReadTable());
    ARM_RETURN_IF_ERROR(tokens_.TakeSymbol("("));
    do {
      ARM_RETURN_IF_ERROR(ReadDefinition());
    } while (tokens_.TrySymbol(","));
    const TextPlace end = tokens_.Peek().place;
    ARM_RETURN_IF_ERROR(tokens_.TakeSymbol(")"));
    if (made_.key.empty()) return SqlError("the table has no PRIMARY KEY", end);
    while (tokens_.TrySymbol(",")) ARM_RETURN_IF_ERROR(ReadIndex());
    if (!tokens_.TryWord("WITH")) return absl::OkStatus();
    return ReadSettings();
  }

  absl::Status ReadDefinition() {
    if (made_.attributes.size() == kPartsMax) return SqlError("there are too many attributes", tokens_.Peek().place);
    const TextPlace begin = tokens_.Peek().place;
    if (tokens_.IsWord("PRIMARY") && tokens_.IsWord("KEY", 1)) {
      tokens_.Take();
      tokens_.Take();
      if (!made_.key.empty()) return SqlError("the table has two PRIMARY KEYs", begin);
      IndexDefinition key;
      ARM_RETURN_IF_ERROR(ReadKey(&key));
      if (key.partition.size() != 1 || key.sort.size() > 1) {
        return SqlError("a PRIMARY KEY has one partition attribute, and one sort attribute or none", begin);
      }
      made_.key = std::move(key.partition);
      made_.key.insert(made_.key.end(), key.sort.begin(), key.sort.end());
      return absl::OkStatus();
    }
    ARM_ASSIGN_OR_RETURN(KeyPart part, ReadPart());
    if (part.type == 0) return tokens_.Expected("the type S, N or B");
    if (tokens_.TryWord("PRIMARY")) {
      ARM_RETURN_IF_ERROR(tokens_.TakeWord("KEY"));
      if (!made_.key.empty()) return SqlError("the table has two PRIMARY KEYs", part.place);
      made_.key.push_back(part);
    }
    made_.attributes.push_back(std::move(part));
    return absl::OkStatus();
  }

  // An attribute, and its type if one follows.
  absl::StatusOr<KeyPart> ReadPart() {
    KeyPart part;
    part.place = tokens_.Peek().place;
    ARM_ASSIGN_OR_RETURN(part.attribute, tokens_.TakeAnyName("an attribute"));
    if (IsType(tokens_.Peek())) {
      part.type = absl::ascii_toupper(static_cast<unsigned char>(tokens_.Take().text[0]));
    }
    return part;
  }

  // ( partition attributes | sort attributes )
  absl::Status ReadKey(IndexDefinition* index) {
    ARM_RETURN_IF_ERROR(tokens_.TakeSymbol("("));
    bool has_bar = false;
    std::vector<KeyPart>* parts = &index->partition;
    while (true) {
      if (parts->size() == kPartsMax) return SqlError("the key is too long", tokens_.Peek().place);
      ARM_ASSIGN_OR_RETURN(KeyPart part, ReadPart());
      parts->push_back(std::move(part));
      if (tokens_.TrySymbol(",")) continue;
      if (has_bar || !tokens_.TrySymbol("|")) break;
      has_bar = true;
      parts = &index->sort;
    }
    ARM_RETURN_IF_ERROR(tokens_.TakeSymbol(")"));
    if (has_bar) return absl::OkStatus();
    if (index->partition.size() > 2) {
      return SqlError("a key of more than two attributes separates partition and sort attributes by |",
                      index->partition[2].place);
    }
    if (index->partition.size() == 2) {
      index->sort.push_back(std::move(index->partition.back()));
      index->partition.pop_back();
    }
    return absl::OkStatus();
  }

  absl::Status ReadIndex() {
    if (made_.indexes.size() == kPartsMax) return SqlError("there are too many indexes", tokens_.Peek().place);
    IndexDefinition index;
    index.place = tokens_.Peek().place;
    index.is_local = tokens_.TryWord("LOCAL");
    if (!index.is_local) tokens_.TryWord("GLOBAL");
    if (!tokens_.TryWord("INDEX")) return tokens_.Expected("GLOBAL INDEX or LOCAL INDEX");
    ARM_ASSIGN_OR_RETURN(index.name, tokens_.TakeName("an index"));
    ARM_RETURN_IF_ERROR(ReadKey(&index));
    if (tokens_.TryWord("PROJECT")) ARM_RETURN_IF_ERROR(ReadProjection(&index));
    if (tokens_.IsWord("CAPACITY")) {
      if (index.is_local) return SqlError("a local index has the capacity of its table", tokens_.Peek().place);
      tokens_.Take();
      ARM_ASSIGN_OR_RETURN(index.capacity, ReadCapacity());
    }
    made_.indexes.push_back(std::move(index));
    return absl::OkStatus();
  }

  absl::Status ReadProjection(IndexDefinition* index) {
    if (tokens_.TryWord("ALL")) return absl::OkStatus();
    if (tokens_.TryWord("KEYS") || tokens_.TryWord("KEYS_ONLY")) {
      index->projection = api::v1::PROJECTION_TYPE_KEYS_ONLY;
      return absl::OkStatus();
    }
    if (!tokens_.TrySymbol("(")) return tokens_.Expected("ALL, KEYS or a list of attributes");
    index->projection = api::v1::PROJECTION_TYPE_INCLUDE;
    do {
      if (index->projected.size() == kPartsMax) return SqlError("the list is too long", tokens_.Peek().place);
      ARM_ASSIGN_OR_RETURN(std::string name, tokens_.TakeAnyName("an attribute"));
      index->projected.push_back(std::move(name));
    } while (tokens_.TrySymbol(","));
    return tokens_.TakeSymbol(")");
  }

  // ( reads, writes )
  absl::StatusOr<TableCapacity> ReadCapacity() {
    TableCapacity capacity;
    ARM_RETURN_IF_ERROR(tokens_.TakeSymbol("("));
    ARM_ASSIGN_OR_RETURN(capacity.reads, tokens_.TakeCount("read units per second", 1, INT64_MAX));
    ARM_RETURN_IF_ERROR(tokens_.TakeSymbol(","));
    ARM_ASSIGN_OR_RETURN(capacity.writes, tokens_.TakeCount("write units per second", 1, INT64_MAX));
    ARM_RETURN_IF_ERROR(tokens_.TakeSymbol(")"));
    return capacity;
  }

  absl::Status ReadSettings() {
    ARM_RETURN_IF_ERROR(tokens_.TakeSymbol("("));
    std::set<std::string> names;
    do {
      const SqlToken name = tokens_.Peek();
      ARM_RETURN_IF_ERROR(tokens_.TakeAnyName("a setting").status());
      const std::string setting = absl::AsciiStrToLower(name.text);
      if (!names.insert(setting).second) return SqlError(Cat("the setting ", setting, " is given twice"), name.place);
      ARM_RETURN_IF_ERROR(tokens_.TakeSymbol("="));
      ARM_RETURN_IF_ERROR(ReadSetting(setting, name.place));
    } while (tokens_.TrySymbol(","));
    return tokens_.TakeSymbol(")");
  }

  absl::Status ReadSetting(const std::string& setting, TextPlace place) {
    TableSettingsGiven& settings = made_.settings;
    if (setting == "stream") {
      for (const auto& [word, type] : kStreamWords) {
        if (!tokens_.TryWord(word)) continue;
        settings.stream = type;
        return absl::OkStatus();
      }
      return tokens_.Expected("OFF, KEYS_ONLY, NEW_IMAGE, OLD_IMAGE or NEW_AND_OLD_IMAGES");
    }
    if (setting == "ttl") {
      const bool is_off = tokens_.TryWord("OFF");
      settings.ttl = "";
      if (is_off) return absl::OkStatus();
      ARM_ASSIGN_OR_RETURN(settings.ttl, tokens_.TakeAnyName("an attribute"));
      return absl::OkStatus();
    }
    if (setting == "capacity") {
      const bool is_free = tokens_.TryWord("ON_DEMAND");
      settings.billing = is_free ? api::v1::BILLING_MODE_PAY_PER_REQUEST : api::v1::BILLING_MODE_PROVISIONED;
      if (is_free) return absl::OkStatus();
      ARM_ASSIGN_OR_RETURN(settings.capacity, ReadCapacity());
      return absl::OkStatus();
    }
    if (setting == "protected") {
      settings.is_protected = tokens_.TryWord("TRUE");
      if (*settings.is_protected || tokens_.TryWord("FALSE")) return absl::OkStatus();
      return tokens_.Expected("TRUE or FALSE");
    }
    if (setting == "class") {
      const bool is_standard = tokens_.TryWord("STANDARD");
      if (!is_standard && !tokens_.TryWord("INFREQUENT_ACCESS")) {
        return tokens_.Expected("STANDARD or INFREQUENT_ACCESS");
      }
      settings.table_class =
          is_standard ? api::v1::TABLE_CLASS_STANDARD : api::v1::TABLE_CLASS_STANDARD_INFREQUENT_ACCESS;
      return absl::OkStatus();
    }
    return SqlError(Cat("there is no setting ", setting, "; there are stream, ttl, capacity, protected and class"),
                    place);
  }

  absl::Status ReadAlter() {
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("TABLE"));
    ARM_RETURN_IF_ERROR(ReadTable());
    if (tokens_.TryWord("ADD")) {
      made_.kind = Kind::kAddIndex;
      const TextPlace place = tokens_.Peek().place;
      ARM_RETURN_IF_ERROR(ReadIndex());
      if (!made_.indexes[0].is_local) return absl::OkStatus();
      return SqlError("a local index is created with its table only", place);
    }
    if (tokens_.TryWord("DROP")) {
      made_.kind = Kind::kDropIndex;
      ARM_RETURN_IF_ERROR(tokens_.TakeWord("INDEX"));
      ARM_ASSIGN_OR_RETURN(made_.index, tokens_.TakeName("an index"));
      return absl::OkStatus();
    }
    if (!tokens_.TryWord("SET")) return tokens_.Expected("ADD INDEX, DROP INDEX or SET");
    made_.kind = Kind::kSet;
    return ReadSettings();
  }

  SqlTokenReader tokens_;
  TableStatement made_;
};

}  // namespace

bool IsTableStatement(const SqlTokenReader& tokens) {
  constexpr std::array<std::string_view, 6> kFirst = {"SHOW", "DESCRIBE", "DESC", "CREATE", "ALTER", "DROP"};
  return std::any_of(kFirst.begin(), kFirst.end(), [&](std::string_view word) { return tokens.IsWord(word); });
}

absl::StatusOr<TableStatement> ParseTableStatement(const std::vector<SqlToken>& tokens) {
  return TableParser(tokens).Run();
}

std::string_view StreamWord(api::v1::StreamViewType type) {
  for (const auto& [word, each] : kStreamWords) {
    if (each == type) return word;
  }
  return "OFF";
}

}  // namespace armature::cli

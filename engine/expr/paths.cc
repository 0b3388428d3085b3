#include "engine/expr/paths.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "absl/strings/ascii.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"
#include "storage/model/number.h"

namespace armature::expr {
namespace {

using model::ItemView;
using model::ValueType;
using model::ValueView;

// Sorted in byte order, for the binary search.
// clang-format off
constexpr std::string_view kReservedWords[] = {
    "ABORT", "ABSOLUTE", "ACTION", "ADD", "AFTER", "AGENT", "AGGREGATE", "ALL", "ALLOCATE", "ALTER", "ANALYZE", "AND",
    "ANY", "ARCHIVE", "ARE", "ARRAY", "AS", "ASC", "ASCII", "ASENSITIVE", "ASSERTION", "ASYMMETRIC", "AT", "ATOMIC",
    "ATTACH", "ATTRIBUTE", "AUTH", "AUTHORIZATION", "AUTHORIZE", "AUTO", "AVG", "BACK", "BACKUP", "BASE", "BATCH",
    "BEFORE", "BEGIN", "BETWEEN", "BIGINT", "BINARY", "BIT", "BLOB", "BLOCK", "BOOLEAN", "BOTH", "BREADTH", "BUCKET",
    "BULK", "BY", "BYTE", "CALL", "CALLED", "CALLING", "CAPACITY", "CASCADE", "CASCADED", "CASE", "CAST", "CATALOG",
    "CHAR", "CHARACTER", "CHECK", "CLASS", "CLOB", "CLOSE", "CLUSTER", "CLUSTERED", "CLUSTERING", "CLUSTERS",
    "COALESCE", "COLLATE", "COLLATION", "COLLECTION", "COLUMN", "COLUMNS", "COMBINE", "COMMENT", "COMMIT", "COMPACT",
    "COMPILE", "COMPRESS", "CONDITION", "CONFLICT", "CONNECT", "CONNECTION", "CONSISTENCY", "CONSISTENT", "CONSTRAINT",
    "CONSTRAINTS", "CONSTRUCTOR", "CONSUMED", "CONTINUE", "CONVERT", "COPY", "CORRESPONDING", "COUNT", "COUNTER",
    "CREATE", "CROSS", "CUBE", "CURRENT", "CURSOR", "CYCLE", "DATA", "DATABASE", "DATE", "DATETIME", "DAY",
    "DEALLOCATE", "DEC", "DECIMAL", "DECLARE", "DEFAULT", "DEFERRABLE", "DEFERRED", "DEFINE", "DEFINED", "DEFINITION",
    "DELETE", "DELIMITED", "DEPTH", "DEREF", "DESC", "DESCRIBE", "DESCRIPTOR", "DETACH", "DETERMINISTIC", "DIAGNOSTICS",
    "DIRECTORIES", "DISABLE", "DISCONNECT", "DISTINCT", "DISTRIBUTE", "DO", "DOMAIN", "DOUBLE", "DROP", "DUMP",
    "DURATION", "DYNAMIC", "EACH", "ELEMENT", "ELSE", "ELSEIF", "EMPTY", "ENABLE", "END", "EQUAL", "EQUALS", "ERROR",
    "ESCAPE", "ESCAPED", "EVAL", "EVALUATE", "EXCEEDED", "EXCEPT", "EXCEPTION", "EXCEPTIONS", "EXCLUSIVE", "EXEC",
    "EXECUTE", "EXISTS", "EXIT", "EXPLAIN", "EXPLODE", "EXPORT", "EXPRESSION", "EXTENDED", "EXTERNAL", "EXTRACT",
    "FAIL", "FALSE", "FAMILY", "FETCH", "FIELDS", "FILE", "FILTER", "FILTERING", "FINAL", "FINISH", "FIRST", "FIXED",
    "FLATTERN", "FLOAT", "FOR", "FORCE", "FOREIGN", "FORMAT", "FORWARD", "FOUND", "FREE", "FROM", "FULL", "FUNCTION",
    "FUNCTIONS", "GENERAL", "GENERATE", "GET", "GLOB", "GLOBAL", "GO", "GOTO", "GRANT", "GREATER", "GROUP", "GROUPING",
    "HANDLER", "HASH", "HAVE", "HAVING", "HEAP", "HIDDEN", "HOLD", "HOUR", "IDENTIFIED", "IDENTITY", "IF", "IGNORE",
    "IMMEDIATE", "IMPORT", "IN", "INCLUDING", "INCLUSIVE", "INCREMENT", "INCREMENTAL", "INDEX", "INDEXED", "INDEXES",
    "INDICATOR", "INFINITE", "INITIALLY", "INLINE", "INNER", "INNTER", "INOUT", "INPUT", "INSENSITIVE", "INSERT",
    "INSTEAD", "INT", "INTEGER", "INTERSECT", "INTERVAL", "INTO", "INVALIDATE", "IS", "ISOLATION", "ITEM", "ITEMS",
    "ITERATE", "JOIN", "KEY", "KEYS", "LAG", "LANGUAGE", "LARGE", "LAST", "LATERAL", "LEAD", "LEADING", "LEAVE", "LEFT",
    "LENGTH", "LESS", "LEVEL", "LIKE", "LIMIT", "LIMITED", "LINES", "LIST", "LOAD", "LOCAL", "LOCALTIME",
    "LOCALTIMESTAMP", "LOCATION", "LOCATOR", "LOCK", "LOCKS", "LOG", "LOGED", "LONG", "LOOP", "LOWER", "MAP", "MATCH",
    "MATERIALIZED", "MAX", "MAXLEN", "MEMBER", "MERGE", "METHOD", "METRICS", "MIN", "MINUS", "MINUTE", "MISSING", "MOD",
    "MODE", "MODIFIES", "MODIFY", "MODULE", "MONTH", "MULTI", "MULTISET", "NAME", "NAMES", "NATIONAL", "NATURAL",
    "NCHAR", "NCLOB", "NEW", "NEXT", "NO", "NONE", "NOT", "NULL", "NULLIF", "NUMBER", "NUMERIC", "OBJECT", "OF",
    "OFFLINE", "OFFSET", "OLD", "ON", "ONLINE", "ONLY", "OPAQUE", "OPEN", "OPERATOR", "OPTION", "OR", "ORDER",
    "ORDINALITY", "OTHER", "OTHERS", "OUT", "OUTER", "OUTPUT", "OVER", "OVERLAPS", "OVERRIDE", "OWNER", "PAD",
    "PARALLEL", "PARAMETER", "PARAMETERS", "PARTIAL", "PARTITION", "PARTITIONED", "PARTITIONS", "PATH", "PERCENT",
    "PERCENTILE", "PERMISSION", "PERMISSIONS", "PIPE", "PIPELINED", "PLAN", "POOL", "POSITION", "PRECISION", "PREPARE",
    "PRESERVE", "PRIMARY", "PRIOR", "PRIVATE", "PRIVILEGES", "PROCEDURE", "PROCESSED", "PROJECT", "PROJECTION",
    "PROPERTY", "PROVISIONING", "PUBLIC", "PUT", "QUERY", "QUIT", "QUORUM", "RAISE", "RANDOM", "RANGE", "RANK", "RAW",
    "READ", "READS", "REAL", "REBUILD", "RECORD", "RECURSIVE", "REDUCE", "REF", "REFERENCE", "REFERENCES",
    "REFERENCING", "REGEXP", "REGION", "REINDEX", "RELATIVE", "RELEASE", "REMAINDER", "RENAME", "REPEAT", "REPLACE",
    "REQUEST", "RESET", "RESIGNAL", "RESOURCE", "RESPONSE", "RESTORE", "RESTRICT", "RESULT", "RETURN", "RETURNING",
    "RETURNS", "REVERSE", "REVOKE", "RIGHT", "ROLE", "ROLES", "ROLLBACK", "ROLLUP", "ROUTINE", "ROW", "ROWS", "RULE",
    "RULES", "SAMPLE", "SATISFIES", "SAVE", "SAVEPOINT", "SCAN", "SCHEMA", "SCOPE", "SCROLL", "SEARCH", "SECOND",
    "SECTION", "SEGMENT", "SEGMENTS", "SELECT", "SELF", "SEMI", "SENSITIVE", "SEPARATE", "SEQUENCE", "SERIALIZABLE",
    "SESSION", "SET", "SETS", "SHARD", "SHARE", "SHARED", "SHORT", "SHOW", "SIGNAL", "SIMILAR", "SIZE", "SKEWED",
    "SMALLINT", "SNAPSHOT", "SOME", "SOURCE", "SPACE", "SPACES", "SPARSE", "SPECIFIC", "SPECIFICTYPE", "SPLIT", "SQL",
    "SQLCODE", "SQLERROR", "SQLEXCEPTION", "SQLSTATE", "SQLWARNING", "START", "STATE", "STATIC", "STATUS", "STORAGE",
    "STORE", "STORED", "STREAM", "STRING", "STRUCT", "STYLE", "SUB", "SUBMULTISET", "SUBPARTITION", "SUBSTRING",
    "SUBTYPE", "SUM", "SUPER", "SYMMETRIC", "SYNONYM", "SYSTEM", "TABLE", "TABLESAMPLE", "TEMP", "TEMPORARY",
    "TERMINATED", "TEXT", "THAN", "THEN", "THROUGHPUT", "TIME", "TIMESTAMP", "TIMEZONE", "TINYINT", "TO", "TOKEN",
    "TOTAL", "TOUCH", "TRAILING", "TRANSACTION", "TRANSFORM", "TRANSLATE", "TRANSLATION", "TREAT", "TRIGGER", "TRIM",
    "TRUE", "TRUNCATE", "TTL", "TUPLE", "TYPE", "UNDER", "UNDO", "UNION", "UNIQUE", "UNIT", "UNKNOWN", "UNLOGGED",
    "UNNEST", "UNPROCESSED", "UNSIGNED", "UNTIL", "UPDATE", "UPPER", "URL", "USAGE", "USE", "USER", "USERS", "USING",
    "UUID", "VACUUM", "VALUE", "VALUED", "VALUES", "VARCHAR", "VARIABLE", "VARIANCE", "VARINT", "VARYING", "VIEW",
    "VIEWS", "VIRTUAL", "VOID", "WAIT", "WHEN", "WHENEVER", "WHERE", "WHILE", "WINDOW", "WITH", "WITHIN", "WITHOUT",
    "WORK", "WRAPPED", "WRITE", "YEAR", "ZONE",
};
// clang-format on

static_assert(std::size(kReservedWords) == 573);
static_assert(std::is_sorted(std::begin(kReservedWords), std::end(kReservedWords)));

enum class Relation { kApart, kOverlap, kConflict };

Relation Relate(const DocumentPath& a, const DocumentPath& b) {
  const size_t common = std::min(a.elements.size(), b.elements.size());
  for (size_t i = 0; i < common; ++i) {
    if (a.elements[i].kind != b.elements[i].kind) return Relation::kConflict;
    if (a.elements[i] != b.elements[i]) return Relation::kApart;
  }
  return Relation::kOverlap;
}

std::string PairText(std::string_view verb, const DocumentPath& one, const DocumentPath& two) {
  return Cat("Two document paths ", verb,
             " with each other; must remove or rewrite one of these paths; path one: ", PathText(one),
             ", path two: ", PathText(two));
}

std::optional<ValueView> ListElement(const ValueView& list, uint32_t index) {
  std::optional<ValueView> found;
  uint32_t position = 0;
  list.ForEachListElement([&](const ValueView& element) {
    if (position++ < index) return true;
    found = element;
    return false;
  });
  return found;
}

}  // namespace

bool IsReservedWord(std::string_view word) {
  const std::string upper = absl::AsciiStrToUpper(Av(word));
  return std::binary_search(std::begin(kReservedWords), std::end(kReservedWords), std::string_view(upper));
}

std::string PathText(const DocumentPath& path) {
  std::string text = "[";
  for (const PathElement& element : path.elements) {
    if (text.size() > 1) text += ", ";
    text += element.kind == PathElement::Kind::kIndex ? Cat("[", element.index, "]") : model::Shown(element.name);
  }
  return text += "]";
}

std::optional<ValueView> Follow(const DocumentPath& path, const ItemView& item) {
  std::optional<ValueView> value = item.Find(path.attribute());
  for (size_t i = 1; i < path.elements.size() && value.has_value(); ++i) {
    const PathElement& element = path.elements[i];
    if (element.kind == PathElement::Kind::kIndex) {
      value = value->type() == ValueType::kList ? ListElement(*value, element.index) : std::nullopt;
    } else {
      value = value->type() == ValueType::kMap ? value->map().Find(element.name) : std::nullopt;
    }
  }
  return value;
}

absl::Status NestedKeyError(std::string_view attribute, bool index_key) {
  return ValidationError(
      Cat("Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ",
          index_key ? "IndexKey: " : "Key: ", attribute));
}

void BindPath(PlaceholderTable* table, FaultLog* reserved, FaultLog* undefined, DocumentPath* path) {
  for (PathElement& element : path->elements) {
    if (element.kind == PathElement::Kind::kName) {
      if (IsReservedWord(element.name)) {
        reserved->Add(Fault::kReservedWord,
                      Cat("Attribute name is a reserved keyword; reserved keyword: ", element.name));
      }
    } else if (element.kind == PathElement::Kind::kPlaceholder) {
      if (const std::string* name = table->Name(element.name)) {
        // A few bytes of text can stand for a name of 64 KB. Without a copy of the name, memory stays bounded.
        if (table->replaced_bytes() > model::kReplacedNamesMaxBytes) {
          reserved->Add(Fault::kPathLimit, Cat("The names that replace placeholders have exceeded the maximum allowed "
                                               "size; maximum size: ",
                                               model::kReplacedNamesMaxBytes));
          continue;
        }
        element = {PathElement::Kind::kName, *name};
      } else {
        undefined->Add(Fault::kUndefinedName,
                       Cat("An expression attribute name used in the document path is not defined; "
                           "attribute name: ",
                           element.name));
      }
    }
  }
}

void BindValue(PlaceholderTable* table, Fault category, FaultLog* undefined, ValueOperand* operand) {
  operand->value = table->Value(operand->placeholder);
  if (operand->value.has_value()) return;
  undefined->Add(category, Cat("An expression attribute value used in expression is not defined; attribute value: ",
                               operand->placeholder));
}

bool PathOrder::operator()(const DocumentPath* a, const DocumentPath* b) const {
  return std::lexicographical_compare(a->elements.begin(), a->elements.end(), b->elements.begin(), b->elements.end(),
                                      [](const PathElement& one, const PathElement& two) {
                                        return std::tie(one.kind, one.index, one.name) <
                                               std::tie(two.kind, two.index, two.name);
                                      });
}

// If a path overlaps or conflicts with any of the paths before it, it does so with a neighbour in their order: paths
// inside one parent are adjacent. Only then is the path compared with all.
void CheckOverlaps(const std::vector<const DocumentPath*>& paths, FaultLog* faults) {
  if (paths.size() < 2) return;
  std::set<const DocumentPath*, PathOrder> earlier;
  bool has_conflict = false;
  for (const DocumentPath* const path : paths) {
    const auto [place, is_new] = earlier.insert(path);
    const auto is_next_to = [&, place = place](Relation relation) {
      return (place != earlier.begin() && Relate(**std::prev(place), *path) == relation) ||
             (std::next(place) != earlier.end() && Relate(**std::next(place), *path) == relation);
    };
    const auto first = [&](Relation relation) -> const DocumentPath& {
      return **std::find_if(paths.begin(), paths.end(), [&](const DocumentPath* other) {
        return other == path || Relate(*other, *path) == relation;
      });
    };
    if (!is_new || is_next_to(Relation::kOverlap)) {
      faults->Add(Fault::kOverlap, PairText("overlap", first(Relation::kOverlap), *path));
      return;  // overlap precedes all other faults
    }
    if (!has_conflict && is_next_to(Relation::kConflict)) {
      has_conflict = true;
      faults->Add(Fault::kConflict, PairText("conflict", first(Relation::kConflict), *path));
    }
  }
}

std::optional<ValueType> StaticType(const Operand& operand) {
  if (const ValueOperand* value = operand.value()) {
    if (!value->value.has_value()) return std::nullopt;
    return value->value->type();
  }
  const FunctionCall* call = operand.call();
  if (call == nullptr) return std::nullopt;
  switch (call->function) {
    case Function::kSize:
      return ValueType::kNumber;
    case Function::kListAppend:
      return ValueType::kList;
    case Function::kUnknown:
    case Function::kIfNotExists:
      return std::nullopt;
    default:
      return ValueType::kBool;
  }
}

std::optional<std::strong_ordering> CompareScalars(ValueType type, std::string_view a, std::string_view b) {
  if (!IsOrdered(type)) return std::nullopt;
  if (type != ValueType::kNumber) return a.compare(b) <=> 0;
  return model::CompareCanonicalNumbers(a, b);
}

std::string OperandCountText(std::string_view function, size_t count) {
  return Cat("Incorrect number of operands for operator or function; operator or function: ", function,
             ", number of operands: ", count);
}

std::string PathDepthText(size_t levels) {
  return Cat("The document path has too many nesting levels; nesting levels: ", levels);
}

std::string OperandTypeText(std::string_view function, std::string_view type) {
  return Cat("Incorrect operand type for operator or function; operator or function: ", function,
             ", operand type: ", type);
}

std::string PathRequiredText(std::string_view function) {
  return Cat("Operator or function requires a document path; operator or function: ", function);
}

std::string MisusedFunctionText(std::string_view function) {
  return Cat("The function is not allowed to be used this way in an expression; function: ", function);
}

std::string UnknownFunctionText(std::string_view function) {
  return Cat("Invalid function name; function: ", function);
}

}  // namespace armature::expr

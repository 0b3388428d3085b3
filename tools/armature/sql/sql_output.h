#ifndef ARMATURE_TOOLS_ARMATURE_SQL_SQL_OUTPUT_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_SQL_OUTPUT_H_

// Results of statements, printed in one of several formats.

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "tools/armature/session.h"
#include "tools/armature/sql/sql_context.h"

namespace armature::cli {

enum class SqlFormat : uint8_t {
  kTable,      // for people: columns, and a line about their number
  kJson,       // an array of items in plain JSON
  kJsonLines,  // an item in plain JSON on each line
  kCsv,        // RFC 4180, with the names of the columns on the first line
  kDocument,   // {"Items": [...]} with typed values, as ExecuteStatement answers
};

// table, json, jsonl, csv or document. Nullopt for another word.
std::optional<SqlFormat> ParseSqlFormat(std::string_view word);
std::string_view SqlFormatName(SqlFormat format);

// The items of a result. kJson and kJsonLines: PlainItem. kCsv: texts and numbers as they are, B in base64, other
// values in plain JSON; an empty cell is no attribute.
std::string FormatItems(const SqlResult& result, SqlFormat format);
// Items one below the other, with a line for each attribute.
std::string ExpandedItems(const SqlResult& result);

// Not thread-safe.
class SqlOutput {
 public:
  SqlOutput(const Session& session, SqlFormat format) : session_(session), format_(format) {}

  SqlFormat format() const { return format_; }
  void set_format(SqlFormat format) { format_ = format; }
  bool is_expanded() const { return is_expanded_; }
  void set_is_expanded(bool is_expanded) { is_expanded_ = is_expanded; }

  // Results longer than the screen go through this pager; empty: through none.
  const std::string& pager() const { return pager_; }
  void set_pager(std::string pager) { pager_ = std::move(pager); }

  // Results go into this file from now on, and to the standard output again for an empty path. Errors: InputError.
  absl::Status SetFile(const std::string& path);

  // Prints the result. Texts for people that are not the result itself go to the standard error, unless the format is
  // kTable. `more`: a remark if there are more items. Errors: InputError if the file cannot be written.
  absl::Status Show(const SqlResult& result, std::string_view more);

  // Prints a text for people, such as the help.
  void Say(std::string_view text) const;

 private:
  // `has_items`: the text begins with what FormatItems or ExpandedItems returns.
  absl::Status Write(std::string_view text, bool has_items);
  // Into the standard output. A terminal gets escapes in place of control characters.
  void Print(std::string_view text) const;
  // The text of a result with its colours, if they are wanted. `items`: as FormatItems makes them.
  std::string InColors(std::string_view items) const;

  const Session& session_;
  SqlFormat format_;
  bool is_expanded_ = false;
  std::string pager_;
  std::string path_;
  std::ofstream file_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_SQL_OUTPUT_H_

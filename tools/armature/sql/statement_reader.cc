#include "tools/armature/sql/statement_reader.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

// The command that a statement of one word stands for, or an empty text.
std::string WordCommand(std::string_view statement) {
  if (absl::EqualsIgnoreCase(Av(statement), "help")) return "\\?";
  const bool is_end = absl::EqualsIgnoreCase(Av(statement), "quit") || absl::EqualsIgnoreCase(Av(statement), "exit");
  return is_end ? "\\q" : "";
}

}  // namespace

void StatementReader::AddLine(std::string_view line) {
  ++line_;
  const bool is_first = buffer_.empty();
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const std::string_view two = line.substr(i, 2);
    if (quote_ == '*') {
      if (two == "*/") {
        quote_ = 0;
        ++i;
        if (has_token_) buffer_ += two;
      } else if (has_token_) {
        buffer_.push_back(c);
      }
      continue;
    }
    if (quote_ != 0) {
      // A doubled quote ends the text and begins it again.
      if (c == quote_) quote_ = 0;
    } else if (two == "--") {
      if (has_token_) buffer_ += line.substr(i);
      break;
    } else if (two == "/*") {
      quote_ = '*';
      ++i;
      if (has_token_) buffer_ += two;
      continue;
    } else if (c == ';') {
      Emit();
      continue;
    } else if (c == '\\') {
      pieces_.push_back(
          {SqlPiece::Kind::kCommand, std::string(Sv(absl::StripAsciiWhitespace(Av(line.substr(i))))), line_});
      break;
    } else if (c == '\'' || c == '"') {
      quote_ = c;
    }
    if (!has_token_) {
      if (absl::ascii_isspace(static_cast<unsigned char>(c))) continue;
      has_token_ = true;
      buffer_line_ = line_;
    }
    buffer_.push_back(c);
  }
  if (is_first && quote_ == 0 && !WordCommand(Sv(absl::StripAsciiWhitespace(buffer_))).empty()) return Emit();
  if (has_token_) buffer_.push_back('\n');
}

std::optional<SqlPiece> StatementReader::Next() {
  if (pieces_.empty()) return std::nullopt;
  SqlPiece piece = std::move(pieces_.front());
  pieces_.pop_front();
  return piece;
}

std::optional<SqlPiece> StatementReader::TakeBuffer() {
  if (!has_token_) {
    buffer_.clear();
    quote_ = 0;
    return std::nullopt;
  }
  Emit();
  SqlPiece piece = std::move(pieces_.back());
  pieces_.pop_back();
  return piece;
}

void StatementReader::Clear() {
  pieces_.clear();
  buffer_.clear();
  has_token_ = false;
  quote_ = 0;
}

void StatementReader::Emit() {
  quote_ = 0;
  if (!has_token_) return;
  has_token_ = false;
  std::string text(Sv(absl::StripAsciiWhitespace(buffer_)));
  buffer_.clear();
  std::string command = WordCommand(text);
  const bool is_command = !command.empty();
  pieces_.push_back({is_command ? SqlPiece::Kind::kCommand : SqlPiece::Kind::kStatement,
                     is_command ? std::move(command) : std::move(text), buffer_line_});
}

}  // namespace armature::cli

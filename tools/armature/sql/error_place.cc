#include "tools/armature/sql/error_place.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "armature/api/v1/types.pb.h"
#include "armature/client/errors.h"
#include "engine/partiql/parser.h"
#include "storage/base/strings.h"
#include "tools/armature/session.h"
#include "tools/armature/sql/sql_token.h"

namespace armature::cli {
namespace {

constexpr std::string_view kSqlPlaceUrl = "armature/sql/place";
constexpr std::string_view kNoPlace = "none";
// Columns of the shown part of a line, and those of it before the place.
constexpr size_t kShownColumns = 100;
constexpr size_t kColumnsBefore = 60;
// The search for the first faulty token parses the statement up to each token before it: so many bytes at most, which
// takes some 10 ms.
constexpr size_t kSearchedTokensMax = 2000;
constexpr size_t kSearchedBytesMax = 1'000'000;

// Takes a number off the front of `text`.
bool TakePlaceNumber(std::string_view* text, size_t* number) {
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (parsed.ec != std::errc()) return false;
  text->remove_prefix(static_cast<size_t>(parsed.ptr - text->data()));
  return true;
}

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// Byte offset `count` characters behind `begin`.
size_t Forward(std::string_view text, size_t begin, size_t count) {
  size_t at = begin;
  while (at < text.size() && count > 0) {
    ++at;
    while (at < text.size() && !BeginsCharacter(text[at])) ++at;
    --count;
  }
  return at;
}

// The place "line:column:length" that the daemon writes into its messages, in characters.
std::optional<TextPlace> NamedPlace(std::string_view message, std::string_view statement) {
  for (size_t at = message.rfind(" at "); at != std::string_view::npos && at > 0; at = message.rfind(" at ", at - 1)) {
    std::string_view rest = message.substr(at + 4);
    std::array<size_t, 3> numbers{};
    bool is_place = true;
    for (size_t i = 0; i < numbers.size() && is_place; ++i) {
      if (i > 0) {
        is_place = rest.starts_with(':');
        if (is_place) rest.remove_prefix(1);
      }
      is_place = is_place && TakePlaceNumber(&rest, &numbers[i]);
    }
    if (!is_place || numbers[0] == 0 || numbers[1] == 0) continue;
    size_t line_begin = 0;
    for (size_t line = 1; line < numbers[0]; ++line) {
      const size_t end = statement.find('\n', line_begin);
      if (end == std::string_view::npos) return std::nullopt;
      line_begin = end + 1;
    }
    const size_t begin = Forward(statement, line_begin, numbers[1] - 1);
    return TextPlace{begin, Forward(statement, begin, numbers[2])};
  }
  return std::nullopt;
}

// The first token with which a beginning of the statement has the same fault as the whole.
std::optional<TextPlace> SearchedPlace(std::string_view message, std::string_view statement) {
  const absl::StatusOr<std::vector<SqlToken>> tokens = TokenizeSql(statement);
  if (!tokens.ok() || tokens->size() > kSearchedTokensMax) return std::nullopt;
  api::v1::AttributeValue null;
  null.set_null(true);
  const std::vector<std::string> parameters(tokens->size(), null.SerializeAsString());
  const auto has_fault = [&](std::string_view beginning) {
    const absl::Status parsed = engine::partiql::ParseStatement(beginning, parameters).status();
    return !parsed.ok() && Sv(parsed.message()) == message;
  };
  // Another parser than the daemon's, or a fault of the data.
  if (!has_fault(statement)) return std::nullopt;
  size_t bytes = statement.size();
  for (const SqlToken& token : *tokens) {
    bytes += token.place.end;
    if (bytes > kSearchedBytesMax) return std::nullopt;
    if (token.kind == SqlTokenKind::kEnd || has_fault(statement.substr(0, token.place.end))) return token.place;
  }
  return std::nullopt;
}

}  // namespace

absl::Status SqlError(std::string_view message, TextPlace place) { return WithPlaceAt(UsageError(message), place); }

absl::Status WithPlaceAt(absl::Status status, TextPlace place) {
  if (!status.ok()) status.SetPayload(Av(kSqlPlaceUrl), absl::Cord(Cat(place.begin, ":", place.end)));
  return status;
}

absl::Status WithoutPlace(absl::Status status) {
  if (!status.ok()) status.SetPayload(Av(kSqlPlaceUrl), absl::Cord(Av(kNoPlace)));
  return status;
}

absl::Status WithNote(const absl::Status& status, std::string_view note) {
  absl::Status noted(status.code(), Av(Cat(Sv(status.message()), note)));
  status.ForEachPayload([&noted](absl::string_view url, const absl::Cord& payload) { noted.SetPayload(url, payload); });
  return noted;
}

bool PlaceIsOurs(const absl::Status& status) { return status.GetPayload(Av(kSqlPlaceUrl)).has_value(); }

std::optional<TextPlace> PlaceOf(const absl::Status& status, std::string_view statement) {
  if (status.ok()) return std::nullopt;
  if (const auto payload = status.GetPayload(Av(kSqlPlaceUrl)); payload.has_value()) {
    const std::string text(*payload);
    std::string_view rest = text;
    TextPlace place;
    if (!TakePlaceNumber(&rest, &place.begin) || !rest.starts_with(':')) return std::nullopt;
    rest.remove_prefix(1);
    if (!TakePlaceNumber(&rest, &place.end)) return std::nullopt;
    return place;
  }
  const std::string_view message = Sv(status.message());
  const std::optional<TextPlace> named = NamedPlace(message, statement);
  return named.has_value() ? named : SearchedPlace(message, statement);
}

absl::Status WithPlaceOf(absl::Status status, std::string_view sent, size_t sent_begin, TextPlace original) {
  if (status.ok()) return status;
  const std::optional<TextPlace> place = PlaceOf(status, sent);
  const size_t sent_end = sent_begin + (original.end - original.begin);
  std::string payload(kNoPlace);
  if (place.has_value() && place->begin >= sent_begin && place->begin <= sent_end) {
    const size_t begin = original.begin + (place->begin - sent_begin);
    payload = Cat(begin, ":", std::max(begin, std::min(original.end, original.begin + (place->end - sent_begin))));
  }
  status.SetPayload(Av(kSqlPlaceUrl), absl::Cord(payload));
  return status;
}

std::string PlaceLines(std::string_view statement, TextPlace place) {
  // A fault at the end is behind the last character that is no blank.
  const size_t last = statement.find_last_not_of(" \t\r\n");
  const size_t text_end = last == std::string_view::npos ? 0 : last + 1;
  place.begin = std::min(place.begin, text_end);
  const size_t line_begin = place.begin == 0 ? 0 : statement.rfind('\n', place.begin - 1) + 1;
  const size_t line_end = std::min(statement.find('\n', place.begin), statement.size());
  place.end = std::clamp(place.end, place.begin, line_end);
  const auto characters = [&](size_t begin, size_t end) {
    return static_cast<size_t>(std::count_if(statement.begin() + static_cast<ptrdiff_t>(begin),
                                             statement.begin() + static_cast<ptrdiff_t>(end), BeginsCharacter));
  };
  size_t shown_begin = line_begin;
  const size_t before = characters(line_begin, place.begin);
  std::string head = Cat(
      "LINE ", std::count(statement.begin(), statement.begin() + static_cast<ptrdiff_t>(line_begin), '\n') + 1, ": ");
  if (before > kColumnsBefore) {
    shown_begin = Forward(statement, line_begin, before - kColumnsBefore);
    head += "...";
  }
  const size_t shown_end = std::min(Forward(statement, shown_begin, kShownColumns), line_end);
  std::string shown(statement.substr(shown_begin, shown_end - shown_begin));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7F') c = ' ';
  }
  if (shown_end < line_end) shown += "...";
  const std::string blanks(head.size() + characters(shown_begin, place.begin), ' ');
  const std::string carets(std::max<size_t>(1, characters(place.begin, std::min(place.end, shown_end))), '^');
  return Cat(head, shown, "\n", blanks, carets, "\n");
}

std::string PlaceLinesOf(const absl::Status& status, std::string_view statement) {
  const std::optional<TextPlace> place = PlaceOf(status, statement);
  if (!place.has_value() || statement.empty()) return "";
  const std::string_view word = statement.substr(std::min(place->begin, statement.size()), place->end - place->begin);
  const bool is_keyword =
      IsSqlKeyword(word) && !client::ErrorName(status).empty() &&
      (absl::StrContains(status.message(), "path component") || absl::StrContains(status.message(), "keyword"));
  return Cat(PlaceLines(statement, *place),
             is_keyword ? Cat("HINT: ", word, " is a keyword of PartiQL; as a name it is written \"", word, "\".\n")
                        : std::string());
}

}  // namespace armature::cli

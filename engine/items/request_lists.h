#ifndef ARMATURE_ENGINE_ITEMS_REQUEST_LISTS_H_
#define ARMATURE_ENGINE_ITEMS_REQUEST_LISTS_H_

// How parsers fill the lists of batches and transactions, of which a small message can name millions: an element takes
// hundreds of bytes and two or three on the wire. A list grows to one element beyond its limit, which is enough for the
// engine to refuse it; what follows is still read, and so found malformed, but not kept.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace armature::engine {

// The next element to fill, empty. Beyond `max` + 1 it is the last one again.
template <class Element>
Element* NextElement(size_t max, std::vector<Element>* list) {
  if (list->size() > max) list->pop_back();
  return &list->emplace_back();
}

// The next entry of RequestItems, called `name`. Of several with one name the last one counts, in its place.
template <class Table>
Table* NextTable(std::string_view name, size_t max, std::vector<Table>* tables) {
  // A list beyond its limit is refused, whatever its names are.
  if (tables->size() <= max) {
    std::erase_if(*tables, [name](const Table& table) { return table.table_name == name; });
  }
  Table* const table = NextElement(max, tables);
  table->table_name = std::string(name);
  return table;
}

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_REQUEST_LISTS_H_

#ifndef ARMATURE_ENGINE_ITEMS_REQUEST_LISTS_H_
#define ARMATURE_ENGINE_ITEMS_REQUEST_LISTS_H_

// Bounded lists for parsers of batches and transactions. A small message can name millions of elements: an element
// takes two or three bytes on the wire and hundreds in memory. A list grows to one element beyond its limit, which is
// enough for the engine to refuse it. Further elements are parsed, so that malformed ones are found, but not kept.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace armature::engine {

// Returns the next element to fill, empty. Beyond `max` + 1 elements, the last one is reused.
template <class Element>
Element* NextElement(size_t max, std::vector<Element>* list) {
  if (list->size() > max) list->pop_back();
  return &list->emplace_back();
}

// Returns the next entry of RequestItems, with `name`. If a name repeats, its last entry wins.
template <class Table>
Table* NextTable(std::string_view name, size_t max, std::vector<Table>* tables) {
  // A list beyond its limit is refused whatever its names are.
  if (tables->size() <= max) {
    std::erase_if(*tables, [name](const Table& table) { return table.table_name == name; });
  }
  Table* const table = NextElement(max, tables);
  table->table_name = std::string(name);
  return table;
}

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_REQUEST_LISTS_H_

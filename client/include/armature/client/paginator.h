#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_PAGINATOR_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_PAGINATOR_H_

// Walks through the pages of a Query or Scan, or through their items.

#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "armature/api/v1/items.pb.h"

namespace armature::client {

// An input iterator over a source with `std::optional<absl::StatusOr<T>> Advance()`. Each step gives a value. The last
// step may give the error that ended the walk.
template <class Source, class T>
class StatusOrIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = absl::StatusOr<T>;
  using difference_type = std::ptrdiff_t;
  using pointer = value_type*;
  using reference = value_type&;

  StatusOrIterator() = default;
  explicit StatusOrIterator(Source* source) : source_(source) { ++*this; }

  reference operator*() { return *current_; }
  pointer operator->() { return &*current_; }
  StatusOrIterator& operator++() {
    current_ = source_->Advance();
    if (!current_.has_value()) source_ = nullptr;
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(const StatusOrIterator& other) const { return source_ == other.source_; }

 private:
  Source* source_ = nullptr;  // null: the end
  std::optional<value_type> current_;
};

// The pages of one request. An empty page need not be the last page.
//
//   auto pages = client.QueryPages(request);
//   for (absl::StatusOr<QueryResponse>& page : pages) {
//     if (!page.ok()) return page.status();
//     ...
//   }
//
// Thread-safety: thread-compatible.
// Lifetime: iterators point into the paginator. There is one position, so only one walk.
// Cost: one call for each page, made by NextPage.
template <class Request, class Response>
class Paginator {
 public:
  using Fetch = std::function<absl::StatusOr<Response>(const Request&)>;
  using iterator = StatusOrIterator<Paginator, Response>;

  // Begins at the exclusive_start_key of `request`, if it has one. `limit` bounds each page, not the walk.
  Paginator(Request request, Fetch fetch) : request_(std::move(request)), fetch_(std::move(fetch)) {}

  // The next page, or nothing after the last page. After an error, the next call requests the same page again.
  absl::StatusOr<std::optional<Response>> NextPage() {
    if (done_) return std::optional<Response>();
    absl::StatusOr<Response> page = fetch_(request_);
    if (!page.ok()) return page.status();
    done_ = !page->has_last_evaluated_key();
    if (!done_) *request_.mutable_exclusive_start_key() = page->last_evaluated_key();
    return std::optional<Response>(*std::move(page));
  }

  // The request of the next page. Another paginator, also in another process, can continue with it.
  const Request& request() const { return request_; }
  bool done() const { return done_; }

  iterator begin() { return iterator(this); }
  iterator end() { return iterator(); }

 private:
  friend iterator;

  // NextPage for iterators: an error ends the walk.
  std::optional<absl::StatusOr<Response>> Advance() {
    absl::StatusOr<std::optional<Response>> page = NextPage();
    if (!page.ok()) {
      done_ = true;
      return absl::StatusOr<Response>(page.status());
    }
    if (!page->has_value()) return std::nullopt;
    return absl::StatusOr<Response>(**std::move(page));
  }

  Request request_;
  Fetch fetch_;
  bool done_ = false;
};

// The items of all pages of one request, one by one.
//
//   auto items = client.ScanItems(request);
//   for (absl::StatusOr<Item>& item : items) {
//     if (!item.ok()) return item.status();
//     ...
//   }
//
// Thread-safety, lifetime and cost: those of Paginator. Holds one page.
template <class Request, class Response>
class ItemRange {
 public:
  using iterator = StatusOrIterator<ItemRange, api::v1::Item>;

  explicit ItemRange(Paginator<Request, Response> pages) : pages_(std::move(pages)) {}

  // The next item, or nothing after the last item. After an error, the next call requests the same page again.
  absl::StatusOr<std::optional<api::v1::Item>> NextItem() {
    while (next_ >= page_.items_size()) {
      absl::StatusOr<std::optional<Response>> page = pages_.NextPage();
      if (!page.ok()) return page.status();
      if (!page->has_value()) return std::optional<api::v1::Item>();
      page_ = **std::move(page);
      next_ = 0;
    }
    return std::optional<api::v1::Item>(std::move(*page_.mutable_items(next_++)));
  }

  iterator begin() { return iterator(this); }
  iterator end() { return iterator(); }

 private:
  friend iterator;

  std::optional<absl::StatusOr<api::v1::Item>> Advance() {
    if (failed_) return std::nullopt;
    absl::StatusOr<std::optional<api::v1::Item>> item = NextItem();
    if (!item.ok()) {
      failed_ = true;
      return absl::StatusOr<api::v1::Item>(item.status());
    }
    if (!item->has_value()) return std::nullopt;
    return absl::StatusOr<api::v1::Item>(**std::move(item));
  }

  Paginator<Request, Response> pages_;
  Response page_;
  int next_ = 0;
  bool failed_ = false;  // an iterator has returned an error
};

using QueryPaginator = Paginator<api::v1::QueryRequest, api::v1::QueryResponse>;
using ScanPaginator = Paginator<api::v1::ScanRequest, api::v1::ScanResponse>;
using QueryItemRange = ItemRange<api::v1::QueryRequest, api::v1::QueryResponse>;
using ScanItemRange = ItemRange<api::v1::ScanRequest, api::v1::ScanResponse>;

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_PAGINATOR_H_

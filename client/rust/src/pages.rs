//! Queries and scans, page by page.
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use serde::de::DeserializeOwned;

use crate::expression::{fields, Binder, Expression};
use crate::table::{common_options, Common};
use crate::{api, from_item, Client, Error, Item, Key, Result, Table};

/// Segments of a parallel scan that are read at the same time.
const SEGMENTS_AT_ONCE: usize = 256;
const SEGMENTS_MAX: usize = 1_000_000;

/// The result of one call of a query or a scan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page<T> {
    /// The items that passed the filter.
    pub items: Vec<T>,
    /// Their number, also if only the number was asked for.
    pub count: usize,
    /// Number of items that were read.
    pub scanned_count: usize,
    /// Position at which the page ended, for `start_after`. `None` on the last page.
    pub last_key: Option<Key>,
}

/// A stream of the results of a request. Values are read as the program needs them. An error is the last one.
///
/// It is a [`Stream`]; programs without the crate `futures` use [`Results::try_next`]. Dropping the future of a method loses nothing.
#[must_use = "a stream does nothing unless it is polled"]
pub struct Results<T> {
    inner: Pin<Box<dyn Stream<Item = Result<T>> + Send>>,
}

impl<T> Results<T> {
    pub(crate) fn new(inner: impl Stream<Item = Result<T>> + Send + 'static) -> Self {
        Self { inner: Box::pin(inner) }
    }

    pub(crate) fn failed(error: Error) -> Self
    where
        T: Send + 'static,
    {
        Self::new(stream::iter([Err(error)]))
    }

    /// The next value. `None`: there are no more.
    pub async fn try_next(&mut self) -> Result<Option<T>> {
        self.inner.try_next().await
    }

    /// All values.
    pub async fn try_collect(self) -> Result<Vec<T>> {
        self.inner.try_collect().await
    }
}

impl<T> Stream for Results<T> {
    type Item = Result<T>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        self.inner.as_mut().poll_next(context)
    }
}

impl<T> std::fmt::Debug for Results<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Results").finish_non_exhaustive()
    }
}

/// Options of queries and scans.
#[derive(Clone, Default)]
pub(crate) struct PageOptions {
    pub(crate) index: Option<String>,
    pub(crate) filter: Option<Expression>,
    pub(crate) projection: Option<Expression>,
    pub(crate) consistent: bool,
    pub(crate) page_size: Option<u32>,
    pub(crate) start_after: Option<Key>,
    at_least: u64,
}

impl PageOptions {
    fn limit(&self) -> Option<i32> {
        self.page_size.map(|size| i32::try_from(size).unwrap_or(i32::MAX))
    }
}

/// Methods of queries and scans.
macro_rules! page_options {
    () => {
        common_options!();

        /// Reads an index of the table.
        pub fn index(mut self, name: impl Into<String>) -> Self {
            self.options.index = Some(name.into());
            self
        }

        /// Drops items after they were read.
        pub fn filter(mut self, condition: impl Into<Expression>) -> Self {
            self.options.filter = Some(condition.into());
            self
        }

        /// Reads the attributes at these document paths only.
        pub fn project<P: Into<String>>(self, paths: impl IntoIterator<Item = P>) -> Self {
            self.projection(fields(paths))
        }

        /// Reads the attributes of a projection as text.
        pub fn projection(mut self, projection: impl Into<Expression>) -> Self {
            self.options.projection = Some(projection.into());
            self
        }

        /// Sees every write that was acknowledged before. Global indexes have no such reads: use [`Client::session`].
        pub fn consistent(mut self) -> Self {
            self.options.consistent = true;
            self
        }

        /// Number of items that one call reads, before a filter. It does not end the stream.
        pub fn page_size(mut self, items: u32) -> Self {
            self.options.page_size = Some(items);
            self
        }

        /// Begins behind a key: the `last_key` of a page, or any other key of the table or index.
        pub fn start_after(mut self, key: impl Into<Key>) -> Self {
            self.options.start_after = Some(key.into());
            self
        }

        /// Waits until a global index has the write with this `change_sequence`. A [session](Client::session) does that by itself.
        pub fn at_least(mut self, change_sequence: u64) -> Self {
            self.options.at_least = change_sequence;
            self
        }
    };
}

/// A request of [`Table::query`].
#[must_use = "a request is sent by its methods"]
pub struct Query<T> {
    pub(crate) table: Table<T>,
    pub(crate) condition: Option<Expression>,
    pub(crate) options: PageOptions,
    pub(crate) descending: bool,
    pub(crate) common: Common,
}

/// A request of [`Table::scan`].
#[must_use = "a request is sent by its methods"]
pub struct Scan<T> {
    table: Table<T>,
    options: PageOptions,
    segment: Option<(u32, u32)>,
    common: Common,
}

impl<T> Table<T> {
    /// Reads the items of one partition of the table or an index, in the order of the sort key. The condition needs equality of the
    /// partition key, and may restrict the sort key.
    ///
    /// ```no_run
    /// # use armature_client::{expr, Item, Table};
    /// # async fn example(orders: Table<Item>) -> Result<(), armature_client::Error> {
    /// let mut open = orders.query(expr("#status = $s").param("s", "open")).index("by_status").descending().items();
    /// while let Some(order) = open.try_next().await? {
    ///     println!("{order:?}");
    /// }
    /// # Ok(()) }
    /// ```
    pub fn query(&self, condition: impl Into<Expression>) -> Query<T> {
        Query {
            table: self.clone(),
            condition: Some(condition.into()),
            options: PageOptions::default(),
            descending: false,
            common: Common::default(),
        }
    }

    /// Reads all items of the table or an index, in no particular order.
    pub fn scan(&self) -> Scan<T> {
        Scan { table: self.clone(), options: PageOptions::default(), segment: None, common: Common::default() }
    }
}

impl<T> Query<T> {
    page_options!();

    /// Reads in the reverse order of the sort key.
    pub fn descending(mut self) -> Self {
        self.descending = true;
        self
    }

    pub(crate) fn request(&self) -> Result<api::QueryRequest> {
        let options = &self.options;
        let mut binder = Binder::new([&self.condition, &options.filter, &options.projection]);
        let request = api::QueryRequest {
            table_name: self.table.name().to_owned(),
            exclusive_start_key: checked(&options.start_after)?,
            index_name: options.index.clone(),
            limit: options.limit(),
            consistent_read: options.consistent.then_some(true),
            return_consumed_capacity: self.common.capacity_level(),
            key_condition_expression: binder.compile(&self.condition)?,
            filter_expression: binder.compile(&options.filter)?,
            projection_expression: binder.compile(&options.projection)?,
            scan_index_forward: self.descending.then_some(false),
            at_least_sequence: options.at_least,
            ..Default::default()
        };
        binder.finish()?;
        Ok(api::QueryRequest {
            expression_attribute_names: binder.names,
            expression_attribute_values: binder.values,
            ..request
        })
    }

    /// The number of items, without transferring them.
    pub async fn count(self) -> Result<usize> {
        let mut request = self.request()?;
        request.select = api::Select::Count.into();
        count(self.table.client(), request, &self.common).await
    }
}

impl<T: DeserializeOwned + Send + 'static> Query<T> {
    /// The items as a stream.
    pub fn items(self) -> Results<T> {
        items_of(self.pages())
    }

    /// The pages as a stream.
    pub fn pages(self) -> Results<Page<T>> {
        match self.request() {
            Ok(request) => pages_of(self.table.client().clone(), request, self.common),
            Err(error) => Results::failed(error),
        }
    }

    /// All items.
    pub async fn all(self) -> Result<Vec<T>> {
        self.items().try_collect().await
    }
}

impl<T> Scan<T> {
    page_options!();

    /// Reads one of `count` parts of the table; numbers begin with 0. [`Scan::parallel`] reads all.
    pub fn segment(mut self, number: u32, count: u32) -> Self {
        self.segment = Some((number, count));
        self
    }

    fn request(&self) -> Result<api::ScanRequest> {
        let options = &self.options;
        let mut binder = Binder::new([&options.filter, &options.projection]);
        let request = api::ScanRequest {
            table_name: self.table.name().to_owned(),
            exclusive_start_key: checked(&options.start_after)?,
            index_name: options.index.clone(),
            limit: options.limit(),
            consistent_read: options.consistent.then_some(true),
            return_consumed_capacity: self.common.capacity_level(),
            filter_expression: binder.compile(&options.filter)?,
            projection_expression: binder.compile(&options.projection)?,
            at_least_sequence: options.at_least,
            segment: self.segment.map(|(number, _)| number as i32),
            total_segments: self.segment.map(|(_, count)| count as i32),
            ..Default::default()
        };
        binder.finish()?;
        Ok(api::ScanRequest {
            expression_attribute_names: binder.names,
            expression_attribute_values: binder.values,
            ..request
        })
    }

    /// The number of items, without transferring them.
    pub async fn count(self) -> Result<usize> {
        let mut request = self.request()?;
        request.select = api::Select::Count.into();
        count(self.table.client(), request, &self.common).await
    }
}

impl<T> Clone for Scan<T> {
    fn clone(&self) -> Self {
        Self {
            table: self.table.clone(),
            options: self.options.clone(),
            segment: self.segment,
            common: self.common.clone(),
        }
    }
}

impl<T: DeserializeOwned + Send + 'static> Scan<T> {
    /// The items as a stream.
    pub fn items(self) -> Results<T> {
        items_of(self.pages())
    }

    /// The pages as a stream.
    pub fn pages(self) -> Results<Page<T>> {
        match self.request() {
            Ok(request) => pages_of(self.table.client().clone(), request, self.common),
            Err(error) => Results::failed(error),
        }
    }

    /// All items.
    pub async fn all(self) -> Result<Vec<T>> {
        self.items().try_collect().await
    }

    /// The items as a stream that reads the table in so many segments, up to 256 of them at the same time and no more than the
    /// connections carry, 100 calls each. The calls make progress while the stream is polled.
    pub fn parallel(self, segments: u32) -> Results<T> {
        if !(1..=SEGMENTS_MAX).contains(&(segments as usize)) {
            return Results::failed(Error::argument("segments", "must be 1 to 1,000,000"));
        }
        let pages = stream::iter(0..segments).map(move |number| self.clone().segment(number, segments).pages());
        let all = pages.flatten_unordered(SEGMENTS_AT_ONCE);
        // The error of one segment ends the stream.
        let all = all.scan(false, |failed, page| {
            let next = (!*failed).then(|| {
                *failed = page.is_err();
                page
            });
            std::future::ready(next)
        });
        items_of(Results::new(all))
    }
}

fn checked(key: &Option<Key>) -> Result<Option<Key>> {
    key.as_ref().map_or(Ok(()), Item::check)?;
    Ok(key.clone())
}

/// QueryRequest and ScanRequest.
pub(crate) trait PageRequest: crate::Operation {
    fn start_after(&mut self, key: Option<Key>);
    fn page(response: Self::Response) -> RawPage;
}

/// The response of a query or a scan.
pub(crate) struct RawPage {
    pub(crate) items: Vec<Item>,
    count: i32,
    scanned_count: i32,
    pub(crate) last_key: Option<Key>,
    pub(crate) capacity: Option<api::ConsumedCapacity>,
}

macro_rules! page_requests {
    ($($request:ident)*) => {
        $(impl PageRequest for api::$request {
            fn start_after(&mut self, key: Option<Key>) {
                self.exclusive_start_key = key;
            }

            fn page(response: Self::Response) -> RawPage {
                RawPage {
                    items: response.items,
                    count: response.count,
                    scanned_count: response.scanned_count,
                    last_key: response.last_evaluated_key,
                    capacity: response.consumed_capacity,
                }
            }
        })*
    };
}

page_requests!(QueryRequest ScanRequest);

/// Walks from page to page.
fn pages_of<T, R>(client: Client, request: R, common: Common) -> Results<Page<T>>
where
    T: DeserializeOwned + Send + 'static,
    R: PageRequest,
{
    let walk = stream::try_unfold(Some((client, request, common)), |state| async move {
        let Some((client, mut request, common)) = state else {
            return Ok(None);
        };
        let page = R::page(client.call_with(&request, common.call).await?);
        common.report(&page.capacity);
        let typed = Page {
            items: page.items.into_iter().map(from_item).collect::<Result<_>>()?,
            count: page.count.max(0) as usize,
            scanned_count: page.scanned_count.max(0) as usize,
            last_key: page.last_key.clone(),
        };
        let next = page.last_key.map(|key| {
            request.start_after(Some(key));
            (client, request, common)
        });
        Ok(Some((typed, next)))
    });
    Results::new(walk)
}

pub(crate) fn items_of<T: Send + 'static>(pages: Results<Page<T>>) -> Results<T> {
    Results::new(pages.map_ok(|page| stream::iter(page.items.into_iter().map(Ok))).try_flatten())
}

async fn count<R: PageRequest>(client: &Client, mut request: R, common: &Common) -> Result<usize> {
    let mut all = 0;
    loop {
        let page = R::page(client.call_with(&request, common.call).await?);
        common.report(&page.capacity);
        all += page.count.max(0) as usize;
        if page.last_key.is_none() {
            return Ok(all);
        }
        request.start_after(page.last_key);
    }
}

package io.github.armaturedb.client;

import java.util.List;
import java.util.Optional;

/**
 * A page of a query or a scan.
 *
 * @param items the items, perhaps none, even if more pages follow
 * @param count number of items; also of a count, which reads none
 * @param scannedCount number of items before the filter
 * @param lastKey the key behind which the next page begins; empty: this is the last one
 * @param <T> the type of the items
 */
public record Page<T>(List<T> items, int count, int scannedCount, Optional<Item> lastKey) {}

package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.StreamViewType;
import io.github.armaturedb.api.v1.WatchStart;
import java.time.Duration;
import java.util.Map;

/** Options of a watch. The timeout is the time for which a lost daemon is tried to be reached; without it, without an end. */
public final class WatchOptions extends RequestOptions<WatchOptions> {
    WatchStart start = WatchStart.WATCH_START_UNSPECIFIED;
    String after;
    Item partition;
    Expression filter;
    StreamViewType view = StreamViewType.STREAM_VIEW_TYPE_UNSPECIFIED;
    Duration heartbeat = Duration.ofSeconds(5);

    /** Begins with the oldest change that is still kept. Without it a watch begins now. */
    public WatchOptions fromOldest() {
        start = WatchStart.WATCH_START_OLDEST;
        return this;
    }

    /** Begins behind a position of the same table: {@link Change#position} or {@link Watch#position}. */
    public WatchOptions after(String position) {
        after = position;
        return this;
    }

    /** Only items with this partition key. */
    public WatchOptions partition(Map<String, ?> key) {
        partition = Item.from(key);
        return this;
    }

    /** Only changes that satisfy this: of the new item, or the old one if it was deleted. */
    public WatchOptions filter(Expression value) {
        filter = value;
        return this;
    }

    /** Only changes that satisfy this text. */
    public WatchOptions filter(String text) {
        return filter(Expression.text(text));
    }

    /** The items in the changes, as far as the stream has them. */
    public WatchOptions images(StreamViewType value) {
        view = value;
        return this;
    }

    /** The time without changes after which the daemon says that it is there: 1 to 60 seconds. After three the watch connects again. */
    public WatchOptions heartbeat(Duration value) {
        heartbeat = CallSettings.checkTimeout(value);
        return this;
    }

    WatchOptions() {}

    @Override
    WatchOptions self() {
        return this;
    }
}

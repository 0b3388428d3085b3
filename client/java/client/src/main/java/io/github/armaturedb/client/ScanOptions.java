package io.github.armaturedb.client;

/** Options of a scan. */
public final class ScanOptions extends ReadOptions<ScanOptions> {
    int segments = 1;
    int segment;
    boolean isOneSegment;

    /** Reads so many parts of the table at once. Their items come as they arrive. */
    public ScanOptions segments(int count) {
        if (count < 1 || count > 1000) {
            throw new IllegalArgumentException("segments must be 1 to 1000");
        }
        segments = count;
        return this;
    }

    /** Reads one part, from 0 on, of several: other threads or programs read the others. */
    public ScanOptions segment(int number, int count) {
        segments(count);
        if (number < 0 || number >= count) {
            throw new IllegalArgumentException("a segment must be less than their number");
        }
        segment = number;
        isOneSegment = true;
        return this;
    }

    ScanOptions() {}

    @Override
    ScanOptions self() {
        return this;
    }
}

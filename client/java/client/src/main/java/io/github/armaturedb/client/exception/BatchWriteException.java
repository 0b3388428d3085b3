package io.github.armaturedb.client.exception;

import io.github.armaturedb.client.Item;
import java.util.List;

/**
 * Writes of a batch writer that the daemon would refuse each time. They are not done and not waiting; all others are done.
 * The cause is the error of the first one.
 */
public final class BatchWriteException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient List<Failed> failed;
    private final long count;

    /** Made by the client. */
    public BatchWriteException(List<Failed> failed, long count) {
        super(count + " writes were refused, the first one: " + failed.get(0).error().getMessage(), failed.get(0).error());
        this.failed = List.copyOf(failed);
        this.count = count;
    }

    /** The refused writes: the first thousand of them. */
    public List<Failed> failed() {
        return failed;
    }

    /** Number of refused writes. */
    public long count() {
        return count;
    }

    /**
     * A refused write.
     *
     * @param item the item of a put, or the key of a delete
     */
    public record Failed(String table, Item item, boolean isDelete, ArmatureException error) {}
}

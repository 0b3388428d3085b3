package io.github.armaturedb.client;

/**
 * Told of each call of a client, for traces and metrics. The artefact armature-client-opentelemetry has one. It must be
 * safe for concurrent use and must not throw.
 */
@FunctionalInterface
public interface CallObserver {
    /**
     * A call begins, in the thread of the program.
     *
     * @param operation such as "PutItem"
     * @param table the table, or empty if the operation is not on one table
     * @return told of the end
     */
    Observed begin(String operation, String table);

    /** A call that has begun. */
    @FunctionalInterface
    interface Observed {
        /**
         * The call has ended, perhaps in another thread.
         *
         * @param attempts number of attempts
         * @param failure the failure; null: success
         */
        void end(int attempts, Throwable failure);
    }
}

package io.github.armaturedb.client;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Bounds the operations that are outstanding, in number and in bytes. An operation larger than all bytes is let in alone.
 */
final class Budget {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition hasRoom = lock.newCondition();
    private final int countMax;
    private final long bytesMax;
    private int count;
    private long bytes;

    Budget(int countMax, long bytesMax) {
        this.countMax = countMax;
        this.bytesMax = bytesMax;
    }

    /** False: there is no room in time. */
    boolean acquire(int size, boolean mayWait, long nanos) throws InterruptedException {
        long left = nanos;
        lock.lock();
        try {
            while (mayWait && count > 0 && (count >= countMax || bytes + size > bytesMax)) {
                if (left <= 0) {
                    return false;
                }
                left = hasRoom.awaitNanos(Math.min(left, TimeUnit.HOURS.toNanos(1)));
            }
            count++;
            bytes += size;
            return true;
        } finally {
            lock.unlock();
        }
    }

    void release(int size) {
        lock.lock();
        try {
            count--;
            bytes -= size;
            hasRoom.signalAll(); // a small operation may fit where the first waiter does not
        } finally {
            lock.unlock();
        }
    }
}

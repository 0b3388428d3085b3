package io.github.armaturedb.client;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;

/**
 * Settings of a client.
 *
 * @param executor runs what follows on futures
 * @param timers begins what a pause has delayed; its tasks are short
 * @param observer null: none
 * @param hints knows the addresses, and what the client has learnt from the daemon
 */
record Settings(Duration timeout, RetryPolicy retry, CallObserver observer, Executor executor, ScheduledExecutorService timers, Hints hints) {}

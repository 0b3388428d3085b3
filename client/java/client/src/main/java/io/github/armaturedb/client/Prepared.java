package io.github.armaturedb.client;

import io.grpc.MethodDescriptor;
import java.util.function.Function;

/** A call that has not begun: both clients make it, each in its way. */
record Prepared<Q, R, V>(MethodDescriptor<Q, R> method, Q request, CallSettings settings, Function<R, V> decode) {}

package io.github.armaturedb.client;

import io.grpc.Attributes;
import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.Status;
import io.grpc.StatusOr;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.regex.Pattern;

/** Resolves several addresses of one daemon: gRPC takes the first one that it can connect to. */
final class Addresses extends NameResolverProvider {
    private static final String SCHEME = "armature-list";

    /** A host, and perhaps a port. gRPC takes a port of its own for a host without one, where no daemon listens. */
    private static final Pattern PLAIN = Pattern.compile("(\\[[^\\]/]*\\]|[^:\\[\\]/]*)(:\\d*)?");

    private static final int PORT_MAX = 65535;

    static {
        NameResolverRegistry.getDefaultRegistry().register(new Addresses());
    }

    private Addresses() {}

    /** The target for gRPC of several addresses, each with a host and a port. */
    static String target(List<String> addresses) {
        addresses.forEach(Addresses::parse);
        try {
            return new URI(SCHEME, "", "/" + String.join(",", addresses), null).toString(); // quotes the brackets of IPv6
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("the addresses are not valid: " + e.getMessage(), e);
        }
    }

    /** Refuses what is no target of gRPC, or one that is certainly a mistake. */
    static void check(String address) {
        if (address.matches("(?i)https?://.*")) {
            throw new IllegalArgumentException("\"" + address + "\" is an address of HTTP; the client needs that of gRPC, such as host:7700");
        }
        if (PLAIN.matcher(address).matches()) {
            parse(address);
        }
    }

    private static URI parse(String address) {
        try {
            URI uri = new URI("tcp://" + address);
            if (uri.getHost() != null && uri.getPort() >= 1 && uri.getPort() <= PORT_MAX && uri.getPath().isEmpty()) {
                return uri;
            }
        } catch (URISyntaxException e) {
            // As below.
        }
        throw new IllegalArgumentException("\"" + address + "\" is not an address such as host:7700");
    }

    @Override
    protected boolean isAvailable() {
        return true;
    }

    @Override
    protected int priority() {
        return 5; // as most
    }

    @Override
    public String getDefaultScheme() {
        return SCHEME;
    }

    @Override
    public Collection<Class<? extends SocketAddress>> getProducedSocketAddressTypes() {
        return Set.of(InetSocketAddress.class);
    }

    @Override
    public NameResolver newNameResolver(URI target, NameResolver.Args args) {
        if (!SCHEME.equals(target.getScheme())) {
            return null;
        }
        List<URI> uris = Arrays.stream(target.getPath().substring(1).split(",")).map(Addresses::parse).toList();
        return new ListResolver(uris, args.getOffloadExecutor());
    }

    private static final class ListResolver extends NameResolver {
        private final List<URI> uris;
        private final Executor executor; // null: none
        private Listener2 listener;

        ListResolver(List<URI> uris, Executor executor) {
            this.uris = uris;
            this.executor = executor == null ? Runnable::run : executor;
        }

        @Override
        public String getServiceAuthority() {
            return uris.get(0).getAuthority();
        }

        @Override
        public void start(Listener2 told) {
            listener = told;
            refresh();
        }

        @Override
        public void refresh() {
            executor.execute(() -> listener.onResult(ResolutionResult.newBuilder().setAddressesOrError(resolve()).build()));
        }

        private StatusOr<List<EquivalentAddressGroup>> resolve() {
            List<EquivalentAddressGroup> groups = new ArrayList<>();
            String unknown = "";
            for (URI uri : uris) {
                String host = uri.getHost().replaceAll("[\\[\\]]", "");
                try {
                    List<SocketAddress> addresses = new ArrayList<>();
                    for (InetAddress address : InetAddress.getAllByName(host)) {
                        addresses.add(new InetSocketAddress(address, uri.getPort()));
                    }
                    // Certificates name their host.
                    groups.add(new EquivalentAddressGroup(addresses, Attributes.newBuilder()
                            .set(EquivalentAddressGroup.ATTR_AUTHORITY_OVERRIDE, uri.getAuthority()).build()));
                } catch (UnknownHostException e) {
                    unknown = host;
                }
            }
            return groups.isEmpty()
                    ? StatusOr.fromStatus(Status.UNAVAILABLE.withDescription("unknown host " + unknown))
                    : StatusOr.fromValue(groups);
        }

        @Override
        public void shutdown() {}
    }
}

package io.github.armaturedb.client.exception;

import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The reason why a daemon cannot be reached, in words of this package instead of those of gRPC, Netty and TLS.
 * docs/develop/clients/README.md lists the reasons.
 *
 * @param isLasting a repetition would fail in the same way
 */
record Connecting(String reason, boolean isLasting) {
    /** A text of the libraries, and what it says of the address. */
    private record Known(Pattern pattern, String reason, boolean isLasting) {
        Known(String pattern, String reason, boolean isLasting) {
            this(Pattern.compile(pattern, Pattern.CASE_INSENSITIVE), reason, isLasting);
        }
    }

    private static final List<Known> KNOWN = List.of(
            new Known("bad_certificate|certificate_required|unknown_ca|certificate_unknown", "%s wants a certificate of the client that it trusts", true),
            new Known("(?:CertPathBuilder|Certificate\\w*|CertPathValidator\\w*|Validator)Exception: ([^\n:]*)$", "the certificate of %s is not trusted: ", true),
            new Known("NotSslRecord|not an SSL/TLS record|handshake_failure|protocol_version|no_application_protocol", "%s does not speak TLS", true),
            // A daemon that is ending closes connections within the handshake: the next one may succeed.
            new Known("SSLHandshake|SSLException|closed while SSL", "the TLS handshake with %s failed", false),
            new Known("not SETTINGS|HTTP/1|http1", "%s speaks HTTP/1, and not gRPC", true),
            new Known("refused", "%s refuses the connection: no daemon listens there", false),
            new Known("No such file", "no daemon listens at %s: there is no such socket", false),
            new Known("UnknownHost|resolve", "the name in %s cannot be resolved", false),
            new Known("timed out|timeout|deadline", "%s does not answer a connection in time", false));

    /** The reason in the status of a call that was never sent; null: it is none of a connection. */
    static Connecting of(String address, Status status) {
        if (status.getCode() != Status.Code.UNAVAILABLE && status.getCode() != Status.Code.DEADLINE_EXCEEDED) {
            return null;
        }
        List<String> texts = new ArrayList<>(List.of(status.getDescription() == null ? "" : status.getDescription()));
        for (Throwable cause = status.getCause(); cause != null; cause = cause.getCause()) {
            texts.add(0, cause.toString()); // the innermost one first: it says most
        }
        for (Known known : KNOWN) {
            for (String text : texts) {
                Matcher found = known.pattern.matcher(text);
                if (found.find()) {
                    String why = found.groupCount() == 0 ? "" : found.group(1);
                    return new Connecting(known.reason.formatted(address) + why, known.isLasting && status.getCode() == Status.Code.UNAVAILABLE);
                }
            }
        }
        return null;
    }
}

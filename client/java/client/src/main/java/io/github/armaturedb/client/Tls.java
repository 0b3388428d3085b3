package io.github.armaturedb.client;

import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How connections are encrypted. Immutable. */
public final class Tls {
    private final Path authorities; // null: those of the Java runtime
    private final Path certificate; // null: none
    private final Path key;

    private Tls(Path authorities, Path certificate, Path key) {
        this.authorities = authorities;
        this.certificate = certificate;
        this.key = key;
    }

    /** Trusts the authorities of the Java runtime. */
    public static Tls ofSystem() {
        return new Tls(null, null, null);
    }

    /** Trusts the authorities in a PEM file. */
    public static Tls ofAuthorities(Path pem) {
        return new Tls(pem, null, null);
    }

    /** Also authenticates the client, by the PEM files of its certificate and of its key in the form PKCS#8. */
    public Tls withCertificate(Path certificatePem, Path keyPem) {
        return new Tls(authorities, certificatePem, keyPem);
    }

    /** The files. */
    @Override
    public String toString() {
        return "authorities: " + (authorities == null ? "of the system" : authorities)
                + (certificate == null ? "" : ", certificate: " + certificate + ", key in the form PKCS#8: " + key);
    }

    TlsChannelCredentials.Builder credentials() {
        TlsChannelCredentials.Builder builder = TlsChannelCredentials.newBuilder();
        try {
            if (authorities != null) {
                builder.trustManager(Files.newInputStream(authorities));
            }
            if (certificate != null) {
                builder.keyManager(Files.newInputStream(certificate), Files.newInputStream(key));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return builder;
    }
}

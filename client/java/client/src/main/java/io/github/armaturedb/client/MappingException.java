package io.github.armaturedb.client;

/**
 * A value that has no form as an attribute, or an attribute that does not fit into the type that is asked for. The message
 * has the path of the value. When a request is made, nothing was sent.
 */
public final class MappingException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    MappingException(String path, String reason) {
        super(path.isEmpty() ? reason : path + ": " + reason);
    }
}

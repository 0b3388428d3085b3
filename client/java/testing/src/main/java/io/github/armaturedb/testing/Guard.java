package io.github.armaturedb.testing;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A process that ends the daemon and removes its temporary files when this one ends without a close: also when it is killed. */
final class Guard {
    /**
     * Reads the numbers of the daemon's processes, the last of which is running; 0: none is. The input ends with this process.
     * The signals that end a group of processes are not for the guard. A daemon that is being killed may still make a file.
     */
    private static final String SCRIPT = """
            trap '' HUP INT TERM
            pid=0
            while read -r line; do pid=$line; done
            [ "$pid" = 0 ] || kill -9 "$pid"
            [ -n "$1" ] || exit 0
            for attempt in 1 2 3 4 5 6 7 8 9 10; do
              rm -rf "$1" && exit 0
              sleep 0.1
            done
            """;

    private static final long END_SECONDS = 10;

    private final Process process;
    private final OutputStream input;

    Guard(Path temporary) throws IOException {
        process = new ProcessBuilder("sh", "-c", SCRIPT, "armature-server-guard", temporary == null ? "" : temporary.toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        input = process.getOutputStream();
    }

    /** Sets the process that ends with this one. 0: none. */
    void watch(long pid) {
        try {
            input.write((pid + "\n").getBytes(StandardCharsets.US_ASCII));
            input.flush();
        } catch (IOException e) {
            // The guard is gone. The daemon still ends with a close.
        }
    }

    /** Ends the guard, which removes the temporary directory. */
    void close() {
        try {
            input.close();
            process.waitFor(END_SECONDS, TimeUnit.SECONDS);
        } catch (IOException e) {
            process.destroy();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

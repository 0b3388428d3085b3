package io.github.armaturedb.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.armaturedb.client.TableSchema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ArmatureServerTest {
    @Test
    void dataAndAddressOutliveKillsAndStopsAndNothingIsLeft() {
        assumeTrue(ArmatureServer.isAvailable(), "no daemon");
        Path directory;
        long pid;
        try (ArmatureServer server = ArmatureServer.start()) {
            String address = server.address();
            server.client().createTable(new TableSchema("users").partition(TableSchema.Key.text("id")));
            server.restart();
            server.stop();
            server.restartStopped();
            assertEquals(address, server.address());
            assertEquals(List.of("users"), server.client().listTables());
            assertThrows(IllegalStateException.class, server::restartStopped);
            directory = server.directory();
            pid = server.pid();
            assertTrue(Files.isDirectory(directory));
        }
        assertFalse(Files.exists(directory.getParent()));
        assertFalse(ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false));
    }

    @Test
    void aDaemonThatDoesNotStartIsAnErrorWithItsLog() {
        IllegalStateException absent =
                assertThrows(IllegalStateException.class, () -> ArmatureServer.options().binary(Path.of("/nowhere/armatured")).start());
        assertTrue(absent.getMessage().contains("/nowhere/armatured"), absent.getMessage());
        assumeTrue(ArmatureServer.isAvailable(), "no daemon");
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> ArmatureServer.start("--no_such_flag=1"));
        assertTrue(e.getMessage().contains("no_such_flag"), e.getMessage());
    }
}

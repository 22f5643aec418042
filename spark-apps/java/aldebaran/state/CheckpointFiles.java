package aldebaran.state;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;

/**
 * Checkpoint files as Spark keeps them, whose rights on a local disk are set by a call of the system.
 *
 * <p>Without its native library Hadoop starts a program, {@code chmod}, for each file that it makes. A batch of one
 * watch ends with a dozen files, most of them one after the other while nothing is judged.
 *
 * <p>Only for a local disk: a store does not rename a file onto one that is there, which Spark would take for done.
 */
public final class CheckpointFiles extends FileSystemBasedCheckpointFileManager {
    /**
     * As Spark makes it: for one folder, with Hadoop's settings.
     *
     * @throws IllegalArgumentException if the folder is not on a local disk
     */
    public CheckpointFiles(Path folder, Configuration settings) {
        super(onDisk(folder), withoutPrograms(settings));
    }

    private static Path onDisk(Path folder) {
        String scheme = folder.toUri().getScheme();
        if (scheme != null && !scheme.equals("file")) {
            throw new IllegalArgumentException(
                    "checkpoints in a store: leave spark.sql.streaming.checkpointFileManagerClass to Spark");
        }
        return folder;
    }

    private static Configuration withoutPrograms(Configuration settings) {
        Configuration ours = new Configuration(settings);
        ours.setClassLoader(CheckpointFiles.class.getClassLoader());
        ours.setClass("fs.file.impl", LocalFiles.class, FileSystem.class);
        // Hadoop would hand out the file system that it has made for others.
        ours.setBoolean("fs.file.impl.disable.cache", true);
        return ours;
    }

    /** Hadoop's local file system, with checksums beside files. */
    public static final class LocalFiles extends LocalFileSystem {
        public LocalFiles() {
            super(new Raw());
        }
    }

    private static final class Raw extends RawLocalFileSystem {
        @Override
        public void setPermission(Path path, FsPermission rights) throws IOException {
            Files.setPosixFilePermissions(pathToFile(path).toPath(), permissions(rights.toShort()));
        }
    }

    /** Returns the rights of these nine bits, those of the owner first. */
    static Set<PosixFilePermission> permissions(int bits) {
        Set<PosixFilePermission> found = EnumSet.noneOf(PosixFilePermission.class);
        PosixFilePermission[] all = PosixFilePermission.values(); // OWNER_READ to OTHERS_EXECUTE
        for (int each = 0; each < all.length; each++) {
            if ((bits & 1 << all.length - 1 - each) != 0) {
                found.add(all[each]);
            }
        }
        return found;
    }
}

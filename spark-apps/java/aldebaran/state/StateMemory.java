package aldebaran.state;

import java.lang.reflect.Field;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.sql.execution.streaming.state.RocksDBMemoryManager$;
import org.rocksdb.Cache;
import org.rocksdb.LRUCache;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteBufferManager;

/**
 * A plugin of Spark's: RocksDB has the memory that it may take in few large shards.
 *
 * <p>Spark lets RocksDB divide its cache, which makes up to 64 shards of it. A file's filter, and its index, are one
 * block each, of up to a megabyte, in one shard. Where a shard has room for hardly one, they push each other out, and
 * every look for a key reads one whole from the disk, while most of the memory holds what nobody asks for.
 */
public final class StateMemory implements SparkPlugin {
    private static final String SETTINGS = "spark.sql.streaming.stateStore.rocksdb.";
    private static final long MEBIBYTE = 1 << 20;
    /** What a shard has at least, so that the largest blocks of some files lie in it together. */
    private static final long SHARD_LEAST_BYTES = 32 * MEBIBYTE;
    /** RocksDB's own limit where it divides by itself: threads seldom wait for each other then. */
    private static final int SHARD_BITS_MOST = 6;

    @Override
    public ExecutorPlugin executorPlugin() {
        return new ExecutorPlugin() {
            @Override
            public void init(PluginContext context, Map<String, String> given) {
                share(context.conf());
            }
        };
    }

    /** The driver keeps no state. */
    @Override
    public DriverPlugin driverPlugin() {
        return null;
    }

    /** Returns the logarithm of how many shards a cache of so many bytes has. */
    public static int shardBits(long bytes) {
        long shards = Math.max(1, bytes / SHARD_LEAST_BYTES);
        return Math.min(SHARD_BITS_MOST, Long.SIZE - 1 - Long.numberOfLeadingZeros(shards));
    }

    /** Makes the memory ready that the settings allow; Spark takes it when it opens its first state. */
    public static void share(SparkConf conf) {
        if (!conf.getBoolean(SETTINGS + "boundedMemoryUsage", false)) {
            return;
        }
        RocksDB.loadLibrary();
        long bytes = conf.getLong(SETTINGS + "maxMemoryUsageMB", 500) * MEBIBYTE;
        double first = conf.getDouble(SETTINGS + "highPriorityPoolRatio", 0.1);
        double unwritten = conf.getDouble(SETTINGS + "writeBufferCacheRatio", 0.5);
        Cache cache = new LRUCache(bytes, shardBits(bytes), false, first);
        synchronized (RocksDBMemoryManager$.MODULE$) {
            put("cache", cache);
            put("writeBufferManager", new WriteBufferManager((long) (bytes * unwritten), cache));
        }
    }

    /** Spark makes both with the first state that it opens, and has no setting for shards. */
    private static void put(String name, Object value) {
        try {
            Field field = RocksDBMemoryManager$.class.getDeclaredField(name);
            field.setAccessible(true);
            field.set(null, value);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException("this Spark keeps RocksDB's memory otherwise: " + name, error);
        }
    }
}

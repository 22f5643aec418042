package aldebaran.shuffle;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.streaming.StreamingShuffleManager;

/**
 * Real-time Mode's shuffle where all tasks are in one process: rows go from task to task through memory.
 *
 * <p>Spark's own sends them over a socket to the same process, waits up to a millisecond with each buffer, and
 * acknowledges it: four threads wake for an event that comes alone. With several executors this is Spark's own.
 */
public final class LocalShuffleManager extends StreamingShuffleManager {
    private final Map<Integer, Exchange> exchanges = new ConcurrentHashMap<>();

    @Override
    public <K, V> ShuffleWriter<K, V> getWriter(
            ShuffleHandle handle, long mapId, TaskContext task, ShuffleWriteMetricsReporter metrics) {
        if (mayBeApart()) {
            return super.getWriter(handle, mapId, task, metrics);
        }
        return new LaneWriter<>(exchange(handle), handle, mapId, task);
    }

    @Override
    public <K, C> ShuffleReader<K, C> getReader(
            ShuffleHandle handle,
            int startMapIndex,
            int endMapIndex,
            int startPartition,
            int endPartition,
            TaskContext task,
            ShuffleReadMetricsReporter metrics) {
        if (mayBeApart()) {
            return super.getReader(handle, startMapIndex, endMapIndex, startPartition, endPartition, task, metrics);
        }
        return new LaneReader<>(exchange(handle).lane(startPartition), task);
    }

    @Override
    public boolean unregisterShuffle(int shuffleId) {
        exchanges.remove(shuffleId);
        return super.unregisterShuffle(shuffleId);
    }

    private Exchange exchange(ShuffleHandle handle) {
        return exchanges.computeIfAbsent(handle.shuffleId(), shuffleId -> new Exchange());
    }

    /** Tell whether tasks may be in different processes: not in the driver's own, nor in the only executor. */
    private static boolean mayBeApart() {
        SparkConf conf = SparkEnv.get().conf();
        String master = conf.get("spark.master", "");
        boolean within = master.equals("local") || master.startsWith("local[");
        boolean fixed = !conf.getBoolean("spark.dynamicAllocation.enabled", false);
        return !within && !(fixed && conf.getInt("spark.executor.instances", 0) == 1);
    }
}

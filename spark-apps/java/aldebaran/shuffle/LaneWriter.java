package aldebaran.shuffle;

import java.util.stream.IntStream;
import org.apache.spark.Partitioner;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import scala.Option;
import scala.Product2;
import scala.Some;
import scala.collection.Iterator;

/** Puts each row of a task into the lane of the task that its key belongs to. */
final class LaneWriter<K, V> extends ShuffleWriter<K, V> {
    private final Partitioner partitioner;
    private final Lane[] lanes;
    private final long mapId;
    private final TaskContext task;

    LaneWriter(Exchange exchange, ShuffleHandle handle, long mapId, TaskContext task) {
        this.partitioner = ((BaseShuffleHandle<?, ?, ?>) handle).dependency().partitioner();
        this.lanes = IntStream.range(0, partitioner.numPartitions()).mapToObj(exchange::lane).toArray(Lane[]::new);
        this.mapId = mapId;
        this.task = task;
    }

    @Override
    public void write(Iterator<Product2<K, V>> records) {
        for (Lane lane : lanes) {
            lane.writerBegins(task.numPartitions());
        }
        while (records.hasNext()) {
            Product2<K, V> record = records.next();
            lanes[partitioner.getPartition(record._1())].put((UnsafeRow) record._2(), task);
        }
        for (Lane lane : lanes) {
            lane.writerEnds();
        }
    }

    @Override
    public Option<MapStatus> stop(boolean success) {
        return new Some<>(MapStatus$.MODULE$.apply(
                SparkEnv.get().blockManager().shuffleServerId(),
                getPartitionLengths(),
                mapId,
                MapStatus$.MODULE$.apply$default$4()));
    }

    /** Nothing lies anywhere when a task has ended. */
    @Override
    public long[] getPartitionLengths() {
        return new long[lanes.length];
    }
}

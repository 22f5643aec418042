package aldebaran.shuffle;

import java.util.NoSuchElementException;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.ShuffleReader;
import scala.Product2;
import scala.Tuple2;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/** Gives a task the rows of its lane as they come, until every writer has ended. */
final class LaneReader<K, C> implements ShuffleReader<K, C> {
    private final Lane lane;
    private final TaskContext task;

    LaneReader(Lane lane, TaskContext task) {
        this.lane = lane;
        this.task = task;
    }

    @Override
    public Iterator<Product2<K, C>> read() {
        return new AbstractIterator<>() {
            private Chunk chunk = new Chunk();
            /** A row may still be held after `hasNext`, so its chunk goes back a turn later. */
            private Chunk before = new Chunk();

            @Override
            public boolean hasNext() {
                while (chunk != null && !chunk.hasNext()) {
                    Chunk taken = lane.take(before, task);
                    before = chunk;
                    chunk = taken;
                }
                return chunk != null;
            }

            @Override
            @SuppressWarnings("unchecked")
            public Product2<K, C> next() {
                if (!hasNext()) {
                    throw new NoSuchElementException("a lane that has ended");
                }
                return new Tuple2<>(null, (C) chunk.next());
            }
        };
    }
}

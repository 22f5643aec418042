package aldebaran.books;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Keeps each key's book, and gives it out with each event that comes.
 *
 * <p>Events have the columns key, source (int), append time (ms since 1970), and what is kept; results have key, book,
 * append time, and how many events the book has forgotten. Rows of one call are taken in append time's sequence: Real-time Mode calls with one row as it
 * comes, micro-batches with all rows of a key in any sequence.
 */
final class Keeper extends StatefulProcessor<String, Row, Row> {
    static final int SOURCE = 1;
    static final int AT_MS = 2;
    static final int KEPT = 3;

    private static final long serialVersionUID = 1;

    private final Layout layout;
    private final long keptMs;

    private transient ValueState<byte[]> book;
    private transient Wheel wheel;

    Keeper(Layout layout, long keptMs) {
        this.layout = layout;
        this.keptMs = keptMs;
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        TTLConfig never = TTLConfig.NONE();
        book = getHandle().getValueState("book", Encoders.BINARY(), never);
        wheel = new Wheel(
                getHandle().getValueState("due", Encoders.STRING(), never),
                getHandle().getValueState("hand", Encoders.LONG(), never),
                keptMs);
    }

    @Override
    public Iterator<Row> handleInputRows(String key, Iterator<Row> rows, TimerValues timers) {
        List<Row> events = new ArrayList<>();
        while (rows.hasNext()) {
            events.add(rows.next());
        }
        events.sort(Comparator.comparingLong(event -> event.getLong(AT_MS)));
        events.replaceAll(event -> taken(key, event));
        return CollectionConverters.asScala(events.iterator());
    }

    private Row taken(String key, Row event) {
        int source = event.getInt(SOURCE);
        long atMs = event.getLong(AT_MS);
        byte[] before = book.get();
        byte[] grown = Book.with(before, layout.bytes(event, KEPT), atMs, atMs - keptMs);
        book.update(grown);
        if (before == null) {
            wheel.add(source, key, atMs + keptMs, atMs);
        }
        wheel.turn(source, atMs, due -> look(due, source, atMs));
        Wheel.at(key);
        return RowFactory.create(key, grown, atMs, Book.forgotten(grown));
    }

    private void look(String key, int source, long nowMs) {
        Wheel.at(key);
        byte[] kept = book.get();
        if (kept == null) {
            return;
        }
        long dueMs = Book.newestMs(kept) + keptMs;
        if (dueMs < nowMs) {
            book.clear();
        } else {
            wheel.add(source, key, dueMs, nowMs);
        }
    }
}

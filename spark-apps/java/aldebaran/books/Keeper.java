package aldebaran.books;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.sql.Encoder;
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
 * <p>Events have the columns key, source (int), append time (ms since 1970), and what {@link Layout} writes of them;
 * results have key, book, append time, and how many events the book has forgotten. Rows of one call are taken in
 * append time's sequence: Real-time Mode calls with one row as it comes, micro-batches with all rows of a key in any
 * sequence.
 */
final class Keeper extends StatefulProcessor<String, Row, Row> {
    private static final int SOURCE = 1;
    private static final int AT_MS = 2;
    private static final int EVENT = 3;

    private static final long serialVersionUID = 1;

    private final long keptMs;

    private transient WriteBack<byte[]> books;
    private transient Wheel wheel;

    Keeper(long keptMs) {
        this.keptMs = keptMs;
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        // First, as it changes what the two below then write.
        BatchEnd.before(getHandle(), () -> wheel.endBatch());
        books = writeBack("book", Encoders.BINARY(), book -> book, book -> book);
        WriteBack<String> due = writeBack("due", Encoders.STRING(), Keeper::utf8, Keeper::text);
        ValueState<Long> hands = getHandle().getValueState("hand", Encoders.LONG(), TTLConfig.NONE());
        wheel = new Wheel(due, hands, keptMs, System::currentTimeMillis, this::look);
    }

    private <V> WriteBack<V> writeBack(
            String name, Encoder<V> encoder, Function<V, byte[]> packed, Function<byte[], V> unpacked) {
        ValueState<V> state = getHandle().getValueState(name, encoder, TTLConfig.NONE());
        WriteBack<V> made = new WriteBack<>(state, packed, unpacked);
        BatchEnd.before(getHandle(), made::flush);
        return made;
    }

    private static byte[] utf8(String keys) {
        return keys.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] keys) {
        return new String(keys, StandardCharsets.UTF_8);
    }

    @Override
    public Iterator<Row> handleInputRows(String key, Iterator<Row> rows, TimerValues timers) {
        List<Row> events = new ArrayList<>();
        while (rows.hasNext()) {
            events.add(rows.next());
        }
        events.sort(Comparator.comparingLong(event -> event.getLong(AT_MS)));
        // One book at a time: a batch brings all events of a key at once, and a book holds them all.
        return CollectionConverters.asScala(
                events.stream().map(event -> taken(key, event)).iterator());
    }

    private Row taken(String key, Row event) {
        int source = event.getInt(SOURCE);
        long atMs = event.getLong(AT_MS);
        byte[] before = books.get(key);
        byte[] grown = Book.with(before, (byte[]) event.get(EVENT), atMs, atMs - keptMs);
        books.put(key, grown);
        if (before == null) {
            wheel.add(source, key, atMs + keptMs, atMs);
        }
        wheel.turn(source, atMs);
        Keys.at(key);
        return RowFactory.create(key, grown, atMs, Book.forgotten(grown));
    }

    private void look(String key, int source, long nowMs) {
        byte[] kept = books.get(key);
        if (kept == null) {
            return;
        }
        long dueMs = Book.newestMs(kept) + keptMs;
        if (dueMs < nowMs) {
            books.clear(key);
        } else {
            wheel.add(source, key, dueMs, nowMs);
        }
    }
}

package aldebaran.books;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import org.apache.spark.sql.streaming.ValueState;

/**
 * One value for each key, of which the task's last stay in its memory: they are written a second after their first
 * change, sooner where others take their place or the batch ends, and not with each change.
 *
 * <p>Nothing is lost by that: state counts only once the batch is committed, and without that its events come again.
 */
final class WriteBack<V> {
    private static final int KEYS_MOST = 1 << 14;
    private static final int BYTES_MOST = 8 << 20;
    /** What a batch's end has to write is a second of events, which come meanwhile to an auditor that stands still. */
    private static final long HELD_NS = TimeUnit.SECONDS.toNanos(1);
    /** So many are written with a change at most, as other events wait; more than come, so that none is left behind. */
    private static final int WRITTEN_PER_CHANGE = 2;

    private static final class Unwritten<V> {
        private final long sinceNs;
        private V value;

        private Unwritten(long sinceNs) {
            this.sinceNs = sinceNs;
        }
    }

    private final ValueState<V> state;
    private final ToIntFunction<V> length;
    private final LongSupplier clockNs;
    /** In the sequence in which they came: to note each use would cost more than it spares. */
    private final Map<String, Unwritten<V>> unwritten = new LinkedHashMap<>();
    private long bytes;

    WriteBack(ValueState<V> state, ToIntFunction<V> length, LongSupplier clockNs) {
        this.state = state;
        this.length = length;
        this.clockNs = clockNs;
    }

    /** Returns null where there is none. */
    V get(String key) {
        Unwritten<V> held = unwritten.get(key);
        if (held != null) {
            return held.value;
        }
        Keys.at(key);
        return state.get();
    }

    void put(String key, V value) {
        long nowNs = clockNs.getAsLong();
        Unwritten<V> held = unwritten.get(key);
        if (held == null) {
            held = new Unwritten<>(nowNs);
            unwritten.put(key, held);
        }
        bytes += length.applyAsInt(value) - (held.value == null ? 0 : length.applyAsInt(held.value));
        held.value = value;
        writeOldest(nowNs);
    }

    private void writeOldest(long nowNs) {
        Iterator<Map.Entry<String, Unwritten<V>>> oldest = unwritten.entrySet().iterator();
        for (int written = 0; oldest.hasNext(); written++) {
            Map.Entry<String, Unwritten<V>> one = oldest.next();
            boolean due = written < WRITTEN_PER_CHANGE && nowNs - one.getValue().sinceNs > HELD_NS;
            if (!due && !isFull()) {
                return;
            }
            write(one.getKey(), one.getValue().value);
            oldest.remove();
        }
    }

    private boolean isFull() {
        return unwritten.size() > KEYS_MOST || bytes > BYTES_MOST;
    }

    private void write(String key, V value) {
        Keys.at(key);
        state.update(value);
        bytes -= length.applyAsInt(value);
    }

    void clear(String key) {
        Unwritten<V> held = unwritten.remove(key);
        bytes -= held == null ? 0 : length.applyAsInt(held.value);
        Keys.at(key);
        state.clear();
    }

    /** Writes all that is left. */
    void flush() {
        unwritten.forEach((key, held) -> write(key, held.value));
        unwritten.clear();
    }
}

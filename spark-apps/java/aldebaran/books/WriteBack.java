package aldebaran.books;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.apache.spark.sql.streaming.ValueState;

/**
 * One value for each key, of which the task's last stay in its memory: they are written when others take their place, or
 * when the batch ends, and not with each change.
 *
 * <p>Nothing is lost by that: state counts only once the batch is committed, and without that its events come again.
 */
final class WriteBack<V> {
    private static final int KEYS_MOST = 1 << 14;
    private static final int BYTES_MOST = 8 << 20;

    private final ValueState<V> state;
    private final ToIntFunction<V> length;
    /** In the sequence in which they came: to note each use would cost more than it spares. */
    private final Map<String, V> unwritten = new LinkedHashMap<>();
    private long bytes;

    WriteBack(ValueState<V> state, ToIntFunction<V> length) {
        this.state = state;
        this.length = length;
    }

    /** Returns null where there is none. */
    V get(String key) {
        V value = unwritten.get(key);
        if (value == null) {
            Keys.at(key);
            value = state.get();
        }
        return value;
    }

    void put(String key, V value) {
        V before = unwritten.put(key, value);
        bytes += length.applyAsInt(value) - (before == null ? 0 : length.applyAsInt(before));
        for (Iterator<Map.Entry<String, V>> oldest = unwritten.entrySet().iterator(); isFull(); ) {
            Map.Entry<String, V> one = oldest.next();
            write(one.getKey(), one.getValue());
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
        V before = unwritten.remove(key);
        bytes -= before == null ? 0 : length.applyAsInt(before);
        Keys.at(key);
        state.clear();
    }

    /** Writes all that is left. */
    void flush() {
        unwritten.forEach(this::write);
        unwritten.clear();
    }
}

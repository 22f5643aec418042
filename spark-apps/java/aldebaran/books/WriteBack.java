package aldebaran.books;

import java.util.function.Function;
import org.apache.spark.sql.streaming.ValueState;

/**
 * One value for each key, of which the task's last stay in its memory: they are written when others take their place,
 * or when the batch ends, and not with each change.
 *
 * <p>Nothing is lost by that: state counts only once the batch is committed, and without that its events come again.
 */
final class WriteBack<V> {
    private static final int KEYS_MOST = 1 << 14;
    private static final int BYTES_MOST = 1 << 24;

    private final ValueState<V> state;
    private final Function<V, byte[]> packed;
    private final Function<byte[], V> unpacked;
    private final Ring unwritten = new Ring(KEYS_MOST, BYTES_MOST);

    WriteBack(ValueState<V> state, Function<V, byte[]> packed, Function<byte[], V> unpacked) {
        this.state = state;
        this.packed = packed;
        this.unpacked = unpacked;
    }

    /** Returns null where there is none. */
    V get(String key) {
        byte[] value = unwritten.get(key);
        if (value != null) {
            return unpacked.apply(value);
        }
        Keys.at(key);
        return state.get();
    }

    void put(String key, V value) {
        byte[] bytes = packed.apply(value);
        while (!unwritten.put(key, bytes)) {
            Ring.Entry oldest = unwritten.takeOldest();
            if (oldest == null) { // longer than all that may wait
                write(new Ring.Entry(key, bytes));
                return;
            }
            write(oldest);
        }
    }

    private void write(Ring.Entry one) {
        Keys.at(one.key());
        state.update(unpacked.apply(one.value()));
    }

    void clear(String key) {
        unwritten.remove(key);
        Keys.at(key);
        state.clear();
    }

    /** Writes all that is left. */
    void flush() {
        for (Ring.Entry one = unwritten.takeOldest(); one != null; one = unwritten.takeOldest()) {
            write(one);
        }
    }
}

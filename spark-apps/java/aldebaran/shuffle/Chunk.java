package aldebaran.shuffle;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/** Rows one behind the other, each with its length and its number of columns before it. */
final class Chunk {
    private static final int START_BYTES = 1 << 12;
    private static final int HEAD_BYTES = 2 * Integer.BYTES;
    private static final long BASE = Platform.BYTE_ARRAY_OFFSET;

    private byte[] rows = new byte[START_BYTES];
    private int end;
    private int next;

    boolean isEmpty() {
        return end == 0;
    }

    int bytes() {
        return end;
    }

    void add(UnsafeRow row) {
        int size = row.getSizeInBytes();
        int after = Math.addExact(end, HEAD_BYTES + size);
        if (after > rows.length) {
            rows = Arrays.copyOf(rows, Math.max(after, 2 * end));
        }
        Platform.putInt(rows, BASE + end, size);
        Platform.putInt(rows, BASE + end + Integer.BYTES, row.numFields());
        row.writeToMemory(rows, BASE + end + HEAD_BYTES);
        end = after;
    }

    boolean hasNext() {
        return next < end;
    }

    /** Return the next row; its bytes stay in here, so it holds until the chunk is cleared. */
    UnsafeRow next() {
        int size = Platform.getInt(rows, BASE + next);
        UnsafeRow row = new UnsafeRow(Platform.getInt(rows, BASE + next + Integer.BYTES));
        row.pointTo(rows, BASE + next + HEAD_BYTES, size);
        next += HEAD_BYTES + size;
        return row;
    }

    /** Make it empty, and let go what a larger row than usual took. */
    void clear(int most) {
        end = 0;
        next = 0;
        if (rows.length > 2 * most) {
            rows = new byte[START_BYTES];
        }
    }
}

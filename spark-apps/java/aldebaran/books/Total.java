package aldebaran.books;

import java.util.Iterator;
import org.apache.spark.sql.api.java.UDF1;

/**
 * One number over a column of a book's events: null where no event has a value, as in SQL; a count is then 0.
 *
 * <p>A sum of whole numbers that would not fit stays at the end of their range, so that it can be compared all the same.
 */
final class Total implements UDF1<byte[], Object> {
    private static final long serialVersionUID = 1;

    /** What can be reckoned. */
    enum Function {
        SUM,
        MIN,
        MAX,
        COUNT
    }

    private final Layout layout;
    private final Function function;
    private final int column;

    Total(Layout layout, Function function, int column) {
        this.layout = layout;
        this.function = function;
        this.column = column;
    }

    @Override
    public Object call(byte[] book) {
        Object total = function == Function.COUNT ? 0L : null;
        for (Iterator<Book.Entry> entries = Book.entries(book); entries.hasNext(); ) {
            Object value = layout.value(entries.next().bytes(), column);
            if (value != null) {
                total = total == null ? value : with(total, value);
            }
        }
        return total;
    }

    private Object with(Object total, Object value) {
        if (function == Function.COUNT) {
            return (long) total + 1;
        }
        return value instanceof Long whole ? ofLongs((long) total, whole) : ofDoubles((double) total, (double) value);
    }

    private Object ofLongs(long total, long value) {
        return switch (function) {
            case MIN -> Math.min(total, value);
            case MAX -> Math.max(total, value);
            default -> sum(total, value);
        };
    }

    private Object ofDoubles(double total, double value) {
        return switch (function) {
            case MIN -> Math.min(total, value);
            case MAX -> Math.max(total, value);
            default -> total + value;
        };
    }

    private static long sum(long total, long value) {
        long sum = total + value;
        boolean overflows = ((total ^ sum) & (value ^ sum)) < 0;
        if (!overflows) {
            return sum;
        }
        return total < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
}

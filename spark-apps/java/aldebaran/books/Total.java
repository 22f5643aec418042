package aldebaran.books;

import aldebaran.sql.Call;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Iterator;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DoubleType;

/**
 * One number over a column of a book's events: null where no event has a value, as in SQL; a count is then 0.
 *
 * <p>A sum of whole numbers that would not fit stays at the end of their range, so that it can be compared all the
 * same.
 */
public final class Total implements Serializable {
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

    /** Returns the total of a column of books, in whose events this one's column has the given type. */
    Column of(Column book, DataType type) {
        if (function == Function.COUNT) {
            return Call.of(this, "count", book, DataTypes.LongType, true);
        }
        return Call.of(this, type instanceof DoubleType ? "ofDoubles" : "ofLongs", book, type, true);
    }

    /** Called by the code that Spark makes, as are the next two. */
    public long count(byte[] book) {
        long count = 0;
        for (Iterator<Book.Entry> entries = Book.entries(book); entries.hasNext(); ) {
            count += layout.find(entries.next().bytes(), column) ? 1 : 0;
        }
        return count;
    }

    public Long ofLongs(byte[] book) {
        boolean any = false;
        long total = 0;
        for (Iterator<Book.Entry> entries = Book.entries(book); entries.hasNext(); ) {
            ByteBuffer event = entries.next().bytes();
            if (layout.find(event, column)) {
                total = any ? with(total, event.getLong()) : event.getLong();
                any = true;
            }
        }
        return any ? total : null;
    }

    public Double ofDoubles(byte[] book) {
        boolean any = false;
        double total = 0;
        for (Iterator<Book.Entry> entries = Book.entries(book); entries.hasNext(); ) {
            ByteBuffer event = entries.next().bytes();
            if (layout.find(event, column)) {
                total = any ? with(total, event.getDouble()) : event.getDouble();
                any = true;
            }
        }
        return any ? total : null;
    }

    private long with(long total, long value) {
        return switch (function) {
            case MIN -> Math.min(total, value);
            case MAX -> Math.max(total, value);
            default -> sum(total, value);
        };
    }

    private double with(double total, double value) {
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

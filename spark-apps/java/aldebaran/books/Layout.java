package aldebaran.books;

import aldebaran.sql.Kind;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * How one event lies in a book: which columns are null, as one bit each, then the others one after the other.
 *
 * <p>Numbers take 8 bytes, truths 1, texts their UTF-8 and 4 bytes for its length. At most 32 columns.
 */
public final class Layout implements Serializable {
    static final int COLUMNS_MAX = Integer.SIZE;

    private static final long serialVersionUID = 1;

    private final Kind[] kinds;

    Layout(StructType columns) {
        if (columns.size() > COLUMNS_MAX) {
            throw new IllegalArgumentException("a book keeps at most " + COLUMNS_MAX + " columns of an event");
        }
        kinds = new Kind[columns.size()];
        for (int column = 0; column < kinds.length; column++) {
            kinds[column] = kind(columns.fields()[column]);
        }
    }

    private static Kind kind(StructField field) {
        Kind kind = Kind.of(field.dataType());
        if (kind == null) {
            throw new IllegalArgumentException(field.name() + ": a book keeps no " + field.dataType().simpleString());
        }
        return kind;
    }

    /** Returns the bytes of an event that has these columns and no other; called by the code that Spark makes. */
    public byte[] bytes(InternalRow event) {
        int nulls = 0;
        int length = Integer.BYTES;
        for (int column = 0; column < kinds.length; column++) {
            if (event.isNullAt(column)) {
                nulls |= 1 << column;
            } else {
                length += length(kinds[column], event, column);
            }
        }
        ByteBuffer written = ByteBuffer.allocate(length).putInt(nulls);
        for (int column = 0; column < kinds.length; column++) {
            if (!isNull(nulls, column)) {
                write(written, kinds[column], event, column);
            }
        }
        return written.array();
    }

    private static int length(Kind kind, InternalRow event, int column) {
        return switch (kind) {
            case TEXT -> Integer.BYTES + event.getUTF8String(column).numBytes();
            case LONG, DOUBLE -> Long.BYTES;
            case TRUTH -> 1;
        };
    }

    private static void write(ByteBuffer written, Kind kind, InternalRow event, int column) {
        switch (kind) {
            case TEXT -> write(written, event.getUTF8String(column));
            case LONG -> written.putLong(event.getLong(column));
            case DOUBLE -> written.putDouble(event.getDouble(column));
            case TRUTH -> written.put((byte) (event.getBoolean(column) ? 1 : 0));
        }
    }

    private static void write(ByteBuffer written, UTF8String text) {
        text.writeTo(written.putInt(text.numBytes()));
    }

    /** Returns the event that begins where the buffer stands, with {@code atMs} as one more column at its end. */
    Row event(ByteBuffer book, long atMs) {
        int nulls = book.getInt();
        Object[] values = new Object[kinds.length + 1];
        for (int column = 0; column < kinds.length; column++) {
            values[column] = isNull(nulls, column) ? null : read(book, kinds[column]);
        }
        values[kinds.length] = atMs;
        return RowFactory.create(values);
    }

    /** Moves the buffer from where an event begins to the value of one of its columns; false where that is null. */
    boolean find(ByteBuffer book, int wanted) {
        int nulls = book.getInt();
        for (int column = 0; column < wanted; column++) {
            if (!isNull(nulls, column)) {
                skip(book, kinds[column]);
            }
        }
        return !isNull(nulls, wanted);
    }

    private static boolean isNull(int nulls, int column) {
        return (nulls >>> column & 1) == 1;
    }

    private static Object read(ByteBuffer book, Kind kind) {
        return switch (kind) {
            case TEXT -> text(book);
            case LONG -> book.getLong();
            case DOUBLE -> book.getDouble();
            case TRUTH -> book.get() == 1;
        };
    }

    private static String text(ByteBuffer book) {
        byte[] text = new byte[book.getInt()];
        book.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    private static void skip(ByteBuffer book, Kind kind) {
        int length = switch (kind) {
            case TEXT -> book.getInt();
            case LONG, DOUBLE -> Long.BYTES;
            case TRUTH -> 1;
        };
        book.position(book.position() + length);
    }
}

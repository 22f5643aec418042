package aldebaran.books;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.struct;
import static org.apache.spark.sql.functions.timestamp_millis;
import static org.apache.spark.sql.functions.udf;

import aldebaran.sql.Call;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Books as Spark sees them: a row for each event, with all its key's events that are kept. */
public final class Books {
    private static final String BOOK = "_book";
    private static final String AT_MS = "_at_ms";
    private static final String FORGOTTEN = "forgotten";
    private static final String EVENT = "_event";

    /** Before it come the key, the source and the append time. */
    private static final int FIRST_KEPT = 3;

    private Books() {}

    /**
     * Returns for each event its key, the book as bytes, its append time, and how many events the book has forgotten.
     *
     * @param events key (string), source (int), append time (bigint, ms since 1970), and what is kept
     * @param keptMs how long an event is kept
     */
    public static Dataset<Row> kept(Dataset<Row> events, long keptMs) {
        StructType given = events.schema();
        String key = given.fieldNames()[0];
        StructType kept = new StructType()
                .add(key, DataTypes.StringType, false)
                .add(BOOK, DataTypes.BinaryType, false)
                .add(AT_MS, DataTypes.LongType, false)
                .add(FORGOTTEN, DataTypes.LongType, false);
        Dataset<Row> packed = packed(events, given);
        return packed.groupBy(key)
                .as(Encoders.STRING(), Encoders.row(packed.schema()))
                .transformWithState(new Keeper(keptMs), TimeMode.None(), OutputMode.Update(), Encoders.row(kept));
    }

    /** Packs what is kept before it goes to the key's task: one value that nobody takes apart on its way. */
    private static Dataset<Row> packed(Dataset<Row> events, StructType given) {
        String[] names = given.fieldNames();
        Column[] kept = Arrays.stream(columns(given).fieldNames()).map(name -> col(name)).toArray(Column[]::new);
        Column packed = Call.of(new Layout(columns(given)), "bytes", struct(kept), DataTypes.BinaryType, true);
        return events.select(col(names[0]), col(names[1]), col(names[2]), packed.as(EVENT));
    }

    /**
     * Returns for each event its key, `events` (its book, as structs of what is kept and `at_ms`), the totals,
     * `forgotten`, and `appended_at`. What a query does not name is not reckoned. Events are taken out of a book
     * after the totals were reckoned, in a step of its own: only so Spark filters by totals before it.
     *
     * @param kept what {@link #kept} returned
     * @param given the columns of the events that it was given
     * @param totals name, function and column of each
     */
    public static Dataset<Row> shown(Dataset<Row> kept, StructType given, List<List<String>> totals) {
        StructType columns = columns(given);
        Layout layout = new Layout(columns);
        List<Column> reckoned = new ArrayList<>();
        for (List<String> total : totals) {
            reckoned.add(total(layout, columns, total));
        }
        reckoned.add(col(FORGOTTEN));
        reckoned.add(timestamp_millis(col(AT_MS)).as("appended_at"));
        Column key = col(given.fieldNames()[0]);
        Dataset<Row> settled = kept.select(joined(List.of(key, col(BOOK)), reckoned));
        Column[] names = Arrays.stream(settled.columns()).skip(2).map(name -> col(name)).toArray(Column[]::new);
        return settled.select(joined(List.of(key, events(layout, columns)), List.of(names)));
    }

    private static Column[] joined(List<Column> first, List<Column> then) {
        return Stream.concat(first.stream(), then.stream()).toArray(Column[]::new);
    }

    private static StructType columns(StructType given) {
        return new StructType(Arrays.copyOfRange(given.fields(), FIRST_KEPT, given.size()));
    }

    private static Column events(Layout layout, StructType columns) {
        DataType type = DataTypes.createArrayType(columns.add("at_ms", DataTypes.LongType, false));
        return udf(unpacked(layout), type).apply(col(BOOK)).as("events");
    }

    private static UDF1<byte[], Row[]> unpacked(Layout layout) {
        return book -> {
            List<Row> events = new ArrayList<>();
            for (Iterator<Book.Entry> entries = Book.entries(book); entries.hasNext(); ) {
                Book.Entry entry = entries.next();
                events.add(layout.event(entry.bytes(), entry.atMs()));
            }
            return events.toArray(Row[]::new);
        };
    }

    private static Column total(Layout layout, StructType columns, List<String> told) {
        Total.Function function = Total.Function.valueOf(told.get(1).toUpperCase(Locale.ROOT));
        int column = columns.fieldIndex(told.get(2));
        return new Total(layout, function, column).of(col(BOOK), columns.fields()[column].dataType()).as(told.get(0));
    }
}

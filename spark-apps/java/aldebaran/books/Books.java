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
     * `forgotten`, and `appended_at`. What a query does not name is not reckoned, nor anything of a row that it filters out.
     *
     * @param kept what {@link #kept} returned
     * @param given the columns of the events that it was given
     * @param totals name, function and column of each
     */
    public static Dataset<Row> shown(Dataset<Row> kept, StructType given, List<List<String>> totals) {
        StructType columns = columns(given);
        Layout layout = new Layout(columns);
        List<Column> shown = new ArrayList<>();
        shown.add(col(given.fieldNames()[0]));
        shown.add(called(unpacked(layout), DataTypes.createArrayType(columns.add("at_ms", DataTypes.LongType, false)), "events"));
        for (List<String> total : totals) {
            shown.add(total(layout, columns, total));
        }
        shown.add(col(FORGOTTEN));
        shown.add(timestamp_millis(col(AT_MS)).as("appended_at"));
        return kept.select(shown.toArray(Column[]::new));
    }

    private static StructType columns(StructType given) {
        return new StructType(Arrays.copyOfRange(given.fields(), FIRST_KEPT, given.size()));
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
        DataType type = function == Total.Function.COUNT ? DataTypes.LongType : columns.fields()[column].dataType();
        return called(new Total(layout, function, column), type, told.get(0));
    }

    private static Column called(UDF1<byte[], ?> function, DataType type, String name) {
        return udf(function, type).apply(col(BOOK)).as(name);
    }
}

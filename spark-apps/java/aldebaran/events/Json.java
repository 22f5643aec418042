package aldebaran.events;

import aldebaran.sql.Call;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.json.JSONOptions;
import org.apache.spark.sql.catalyst.json.JacksonParser;
import org.apache.spark.sql.catalyst.util.FailureSafeParser;
import org.apache.spark.sql.catalyst.util.PermissiveMode$;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.Iterator;
import scala.collection.immutable.Map$;

/**
 * JSON text as a struct, read from the bytes themselves: what is plain directly, all else by Spark's own parser.
 *
 * <p>{@code from_json} makes a reader of characters for each text, with a buffer of 8 KiB. Results are the same but for
 * bytes that are not UTF-8, which it replaces and this takes for malformed.
 */
public final class Json implements Serializable {
    private static final long serialVersionUID = 1;
    private static final String UNUSED = "_corrupt_record";

    /** So many records after one that is not plain are not tried, as they may be like it. */
    private static final int UNTRIED = 15;

    private final StructType schema;
    private transient FailureSafeParser<byte[]> parser;
    private transient Plain plain;
    private transient int untried;

    private Json(StructType schema) {
        this.schema = schema;
    }

    /**
     * Returns a column of structs; what is missing, malformed or of another type is null.
     *
     * @param columns name and type of each, as SQL declares them
     */
    public static Column struct(Column bytes, String columns) {
        StructType schema = StructType.fromDDL(columns);
        return Call.of(new Json(schema), "read", bytes, schema, true);
    }

    /** Called by the code that Spark makes. */
    public InternalRow read(byte[] json) {
        if (parser == null) {
            JSONOptions options = new JSONOptions(Map$.MODULE$.<String, String>empty(), "UTC", UNUSED);
            parser = parser(options);
            plain = new Plain(options.buildJsonFactory(), schema);
        }
        InternalRow row = untried == 0 && mayBeUtf8(json) ? plain.read(json) : null;
        return row == null ? readBySpark(json) : row;
    }

    private InternalRow readBySpark(byte[] json) {
        untried = untried == 0 ? UNTRIED : untried - 1;
        Iterator<InternalRow> rows = parser.parse(json);
        return rows.hasNext() ? rows.next() : null;
    }

    private FailureSafeParser<byte[]> parser(JSONOptions options) {
        JacksonParser fields = new JacksonParser(schema, options, false, Call.listed());
        return new FailureSafeParser<>(
                json -> fields.parse(json, Json::opened, UTF8String::fromBytes),
                PermissiveMode$.MODULE$,
                schema,
                UNUSED);
    }

    private static JsonParser opened(JsonFactory factory, byte[] json) {
        try {
            return mayBeUtf8(json)
                    ? factory.createParser(json)
                    : factory.createParser(
                            new InputStreamReader(new ByteArrayInputStream(json), StandardCharsets.UTF_8));
        } catch (IOException never) {
            throw new UncheckedIOException(never);
        }
    }

    /**
     * Bytes that begin otherwise would be read as UTF-16 or UTF-32, or without their mark: nobody else reads them so.
     */
    private static boolean mayBeUtf8(byte[] json) {
        return json.length < 2 || json[0] > 0 && json[1] != 0;
    }
}

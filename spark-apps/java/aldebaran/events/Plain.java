package aldebaran.events;

import aldebaran.sql.Kind;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads an object of which each value is null or just of its column's type, as Spark's parser would; of any other,
 * nothing.
 *
 * <p>Spark's parser makes defaults and filters ready for each record, and boxes its columns' places; a plain one
 * needs none of that.
 */
final class Plain {
    private final JsonFactory factory;
    private final Fields fields;
    /** Null for a column of a type that is left to Spark. */
    private final Kind[] kinds;

    Plain(JsonFactory factory, StructType schema) {
        this.factory = factory;
        fields = new Fields(schema);
        kinds = Arrays.stream(schema.fields()).map(field -> Kind.of(field.dataType())).toArray(Kind[]::new);
    }

    /** Returns null for what is not plain: malformed, or of other types. */
    InternalRow read(byte[] json) {
        try (JsonParser parser = factory.createParser(json)) {
            return parser.nextToken() == JsonToken.START_OBJECT ? object(parser) : null;
        } catch (IOException malformed) {
            return null;
        }
    }

    private InternalRow object(JsonParser parser) throws IOException {
        Object[] row = new Object[kinds.length];
        int place = 0;
        for (int column = fields.next(parser, place); column != Fields.END; column = fields.next(parser, ++place)) {
            JsonToken token = parser.nextToken();
            if (column == Fields.UNKNOWN) {
                parser.skipChildren();
            } else if (!put(row, column, token, parser)) {
                return null;
            }
        }
        return parser.currentToken() == JsonToken.END_OBJECT ? new GenericInternalRow(row) : null;
    }

    /** Of a column that is named twice the last value counts. */
    private boolean put(Object[] row, int column, JsonToken token, JsonParser parser) throws IOException {
        boolean isNull = token == JsonToken.VALUE_NULL;
        row[column] = isNull ? null : value(kinds[column], token, parser);
        return isNull || row[column] != null;
    }

    private static Object value(Kind kind, JsonToken token, JsonParser parser) throws IOException {
        if (kind == null) {
            return null;
        }
        return switch (kind) {
            case TEXT -> token == JsonToken.VALUE_STRING ? text(parser) : null;
            case LONG -> token == JsonToken.VALUE_NUMBER_INT ? parser.getLongValue() : null;
            case DOUBLE -> token.isNumeric() ? parser.getDoubleValue() : null;
            case TRUTH -> token.isBoolean() ? token == JsonToken.VALUE_TRUE : null;
        };
    }

    /** Where all characters are of ASCII, they are the bytes. */
    private static UTF8String text(JsonParser parser) throws IOException {
        char[] characters = parser.getTextCharacters();
        int begin = parser.getTextOffset();
        byte[] bytes = new byte[parser.getTextLength()];
        int bits = 0;
        for (int place = 0; place < bytes.length; place++) {
            bits |= characters[begin + place];
            bytes[place] = (byte) characters[begin + place];
        }
        return bits < 0x80 ? UTF8String.fromBytes(bytes) : UTF8String.fromString(parser.getText());
    }
}

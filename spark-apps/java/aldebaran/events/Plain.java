package aldebaran.events;

import aldebaran.sql.Kind;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads an object of which each value is null or just of its column's type, as Spark's parser would; of any other, nothing.
 *
 * <p>Spark's parser makes defaults and filters ready for each record, and boxes its columns' places; a plain one needs none of that.
 */
final class Plain {
    private final JsonFactory factory;
    private final Map<String, Integer> columns = new HashMap<>();
    /** Null for a column of a type that is left to Spark. */
    private final Kind[] kinds;

    Plain(JsonFactory factory, StructType schema) {
        this.factory = factory;
        kinds = new Kind[schema.size()];
        for (StructField field : schema.fields()) {
            kinds[columns.size()] = Kind.of(field.dataType());
            columns.put(field.name(), columns.size());
        }
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
        for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
            JsonToken token = parser.nextToken();
            Integer column = columns.get(name);
            if (column == null) {
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
            case TEXT -> token == JsonToken.VALUE_STRING ? UTF8String.fromString(parser.getText()) : null;
            case LONG -> token == JsonToken.VALUE_NUMBER_INT ? parser.getLongValue() : null;
            case DOUBLE -> token.isNumeric() ? parser.getDoubleValue() : null;
            case TRUTH -> token.isBoolean() ? token == JsonToken.VALUE_TRUE : null;
        };
    }
}

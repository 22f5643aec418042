package aldebaran.events;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.SerializedString;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Tells which column an object's next field is.
 *
 * <p>Most of a stream's records name their fields in one sequence, so the first guess is the name that stood at this
 * place in the record before: its bytes are compared, and no name is looked up.
 */
final class Fields {
    /** The object has no more of them, or is malformed. */
    static final int END = -1;
    /** No column has this name. */
    static final int UNKNOWN = -2;

    private static final int GUESSED_MOST = 64;

    private final Map<String, Integer> columns = new HashMap<>();
    private final SerializedString[] names = new SerializedString[GUESSED_MOST];
    private final int[] columnsOfNames = new int[GUESSED_MOST];

    Fields(StructType schema) {
        for (StructField field : schema.fields()) {
            columns.put(field.name(), columns.size());
        }
    }

    /** Moves the parser to the field that stands at this place, and returns its column, END or UNKNOWN. */
    int next(JsonParser parser, int place) throws IOException {
        SerializedString guess = place < GUESSED_MOST ? names[place] : null;
        if (guess == null) {
            parser.nextToken();
        } else if (parser.nextFieldName(guess)) {
            return columnsOfNames[place];
        }
        return parser.currentToken() == JsonToken.FIELD_NAME ? looked(parser.currentName(), place) : END;
    }

    private int looked(String name, int place) {
        int column = columns.getOrDefault(name, UNKNOWN);
        if (place < GUESSED_MOST) {
            names[place] = new SerializedString(name);
            columnsOfNames[place] = column;
        }
        return column;
    }
}

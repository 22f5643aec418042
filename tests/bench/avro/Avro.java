package bench;

import aldebaran.sql.Call;
import java.io.IOException;
import java.io.Serializable;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Avro's binary encoding as a struct, in the place of {@code aldebaran.events.Json}: each value goes right into its
 * column, in the sequence of the schema.
 *
 * <p>Writer and reader have one schema: none is looked up by an id, and nothing is resolved.
 */
public final class Avro implements Serializable {
    private static final long serialVersionUID = 1;

    private final String schema;
    private transient Part[] parts;
    private transient BinaryDecoder decoder;

    /** One field; texts stands for the symbols of an enum, and is empty for all else. */
    private record Part(Schema.Type type, boolean required, UTF8String[] texts) {
        static Part of(Schema.Field field) {
            Schema given = field.schema();
            boolean required = given.getType() != Schema.Type.UNION;
            Schema value = required ? given : given.getTypes().get(1);
            boolean named = value.getType() == Schema.Type.ENUM;
            UTF8String[] texts = named
                    ? value.getEnumSymbols().stream().map(UTF8String::fromString).toArray(UTF8String[]::new)
                    : new UTF8String[0];
            return new Part(value.getType(), required, texts);
        }
    }

    private Avro(String schema) {
        this.schema = schema;
    }

    /**
     * Returns a column of structs; null for what is malformed.
     *
     * @param columns name and type of each, as SQL declares them
     * @param schema Avro's, of a record of just these; what may be missing is a union of null and its type
     */
    public static Column struct(Column bytes, String columns, String schema) {
        return Call.of(new Avro(schema), "read", bytes, StructType.fromDDL(columns), true);
    }

    /** Called by the code that Spark makes. */
    public InternalRow read(byte[] record) {
        if (parts == null) {
            parts = new Schema.Parser().parse(schema).getFields().stream().map(Part::of).toArray(Part[]::new);
        }
        decoder = DecoderFactory.get().binaryDecoder(record, decoder);
        try {
            Object[] row = new Object[parts.length];
            for (int column = 0; column < row.length; column++) {
                row[column] = value(parts[column], record.length);
            }
            return decoder.isEnd() ? new GenericInternalRow(row) : null;
        } catch (IOException | IndexOutOfBoundsException malformed) {
            return null;
        }
    }

    private Object value(Part part, int longest) throws IOException {
        if (!part.required && decoder.readIndex() == 0) {
            return null;
        }
        return switch (part.type) {
            case STRING -> text(longest);
            case ENUM -> part.texts[decoder.readEnum()];
            case LONG -> decoder.readLong();
            default -> throw new IllegalArgumentException("no field of the bench's stream is of type " + part.type);
        };
    }

    /** As in JSON, bytes that are no text make the record malformed. */
    private UTF8String text(int longest) throws IOException {
        int length = decoder.readInt();
        if (length < 0 || length > longest) {
            throw new IOException("a text of " + length + " bytes");
        }
        byte[] bytes = new byte[length];
        decoder.readFixed(bytes, 0, length);
        UTF8String text = UTF8String.fromBytes(bytes);
        if (!isAscii(bytes) && !text.isValid()) {
            throw new IOException("not UTF-8");
        }
        return text;
    }

    private static boolean isAscii(byte[] bytes) {
        int bits = 0;
        for (byte each : bytes) {
            bits |= each;
        }
        return bits >= 0;
    }
}

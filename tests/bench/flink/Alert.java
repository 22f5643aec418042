package bench;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The record of a finding, as every reader of topic `alerts` expects it. */
public final class Alert {
    private static final JsonFactory JSON = new JsonFactory();
    private static final String WATCH = "over-purchase";

    private Alert() {}

    /** Returns the same id as services/contracts/ids.py does. */
    public static String id(String order) {
        StringBuilder sized = new StringBuilder();
        for (String part : new String[] {"alert", WATCH, order}) {
            sized.append(part.getBytes(StandardCharsets.UTF_8).length).append(':').append(part);
        }
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            byte[] hash = sha.digest(sized.toString().getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, 16);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    public static byte[] encode(String order, Book book, Book.Exceeded found, long appendedMs)
            throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = JSON.createGenerator(bytes)) {
            json.writeStartObject();
            json.writeNumberField("version", 1);
            json.writeStringField("alert_id", id(order));
            json.writeStringField("watch", WATCH);
            json.writeStringField("severity", "critical");
            json.writeStringField("summary", "Order " + order + " of " + book.client + ": "
                + found.purchased() + " shares of " + book.stock + " purchased, "
                + found.requested() + " requested");
            json.writeObjectFieldStart("key");
            json.writeStringField("order_id", order);
            json.writeEndObject();
            json.writeObjectFieldStart("labels");
            json.writeStringField("client", book.client);
            json.writeStringField("stock", book.stock);
            json.writeEndObject();
            json.writeObjectFieldStart("values");
            json.writeNumberField("requested", found.requested());
            json.writeNumberField("purchased", found.purchased());
            json.writeEndObject();
            json.writeArrayFieldStart("event_ids");
            for (int i = 0; i < book.purchases; i++) {
                json.writeString(book.ids[i]);
            }
            json.writeEndArray();
            json.writeNumberField("appended_at_ms", appendedMs);
            json.writeNumberField("detected_at_ms", System.currentTimeMillis());
            json.writeStringField("auditor", "flink");
            json.writeEndObject();
        }
        return bytes.toByteArray();
    }
}

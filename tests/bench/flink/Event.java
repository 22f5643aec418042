package bench;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/** A request or a purchase, as the stream declares it, with the broker's append time. */
public final class Event {
    private static final JsonFactory JSON = new JsonFactory();
    private static final long MOST_SHARES = 1_000_000_000_000L;

    public boolean isRequest;
    public String eventId;
    public String orderId;
    public long shares;
    public String client;
    public String stock;
    public long atMs;

    /** Reads an event; returns null where it does not keep the stream's declaration. */
    public static Event parse(byte[] value, long atMs) {
        Event event = new Event();
        event.atMs = atMs;
        String kind = null;
        try (JsonParser json = JSON.createParser(value)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return null;
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName();
                JsonToken token = json.nextToken();
                switch (name) {
                    case "kind" -> kind = json.getText();
                    case "event_id" -> event.eventId = json.getText();
                    case "order_id" -> event.orderId = json.getText();
                    case "client" -> event.client = json.getText();
                    case "stock" -> event.stock = json.getText();
                    case "shares" -> {
                        if (token != JsonToken.VALUE_NUMBER_INT) {
                            return null;
                        }
                        event.shares = json.getLongValue();
                    }
                    default -> json.skipChildren();
                }
            }
        } catch (IOException malformed) {
            return null;
        }
        event.isRequest = "request".equals(kind);
        return event.isRequest || "purchase".equals(kind) ? event.valid() : null;
    }

    private Event valid() {
        boolean keeps = fits(eventId, 128) && fits(orderId, 128) && fits(client, 128)
            && fits(stock, 32) && shares >= 1 && shares <= MOST_SHARES;
        return keeps ? this : null;
    }

    private static boolean fits(String text, int longest) {
        return text != null && !text.isEmpty() && text.length() <= longest
            && text.indexOf('\0') < 0;
    }
}

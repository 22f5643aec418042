package bench;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.types.StringValue;

/** Events between the source and the rule; an event is never changed, so a copy is itself. */
public final class EventCodec extends Codec<Event> {
    public static final EventCodec INSTANCE = new EventCodec();

    @Override
    public Event createInstance() {
        return new Event();
    }

    @Override
    public Event copy(Event from) {
        return from;
    }

    @Override
    public void serialize(Event event, DataOutputView target) throws IOException {
        target.writeBoolean(event.isRequest);
        StringValue.writeString(event.eventId, target);
        StringValue.writeString(event.orderId, target);
        target.writeLong(event.shares);
        StringValue.writeString(event.client, target);
        StringValue.writeString(event.stock, target);
        target.writeLong(event.atMs);
    }

    @Override
    public Event deserialize(DataInputView source) throws IOException {
        Event event = new Event();
        event.isRequest = source.readBoolean();
        event.eventId = StringValue.readString(source);
        event.orderId = StringValue.readString(source);
        event.shares = source.readLong();
        event.client = StringValue.readString(source);
        event.stock = StringValue.readString(source);
        event.atMs = source.readLong();
        return event;
    }

    @Override
    public TypeSerializerSnapshot<Event> snapshotConfiguration() {
        return new Snapshot();
    }

    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Event> {
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}

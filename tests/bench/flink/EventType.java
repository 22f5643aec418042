package bench;

import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** Tells Flink to move events with {@link EventCodec}. */
public final class EventType extends TypeInformation<Event> {
    @Override
    public boolean isBasicType() {
        return false;
    }

    @Override
    public boolean isTupleType() {
        return false;
    }

    @Override
    public int getArity() {
        return 1;
    }

    @Override
    public int getTotalFields() {
        return 1;
    }

    @Override
    public Class<Event> getTypeClass() {
        return Event.class;
    }

    @Override
    public boolean isKeyType() {
        return false;
    }

    @Override
    public TypeSerializer<Event> createSerializer(SerializerConfig config) {
        return EventCodec.INSTANCE;
    }

    @Override
    public String toString() {
        return "Event";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EventType;
    }

    @Override
    public int hashCode() {
        return 1;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof EventType;
    }
}

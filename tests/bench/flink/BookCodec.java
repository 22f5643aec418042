package bench;

import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.types.StringValue;

/** Books in checkpoints, and in RocksDB with each event. */
public final class BookCodec extends Codec<Book> {
    public static final BookCodec INSTANCE = new BookCodec();

    @Override
    public Book createInstance() {
        return new Book();
    }

    @Override
    public Book copy(Book from) {
        Book copy = new Book();
        copy.client = from.client;
        copy.stock = from.stock;
        copy.alerted = from.alerted;
        copy.requests = from.requests;
        copy.asked = Arrays.copyOf(from.asked, from.asked.length);
        copy.askedMs = Arrays.copyOf(from.askedMs, from.askedMs.length);
        copy.purchases = from.purchases;
        copy.ids = Arrays.copyOf(from.ids, from.ids.length);
        copy.shares = Arrays.copyOf(from.shares, from.shares.length);
        copy.atMs = Arrays.copyOf(from.atMs, from.atMs.length);
        return copy;
    }

    @Override
    public void serialize(Book book, DataOutputView target) throws IOException {
        StringValue.writeString(book.client, target);
        StringValue.writeString(book.stock, target);
        target.writeBoolean(book.alerted);
        target.writeInt(book.requests);
        for (int i = 0; i < book.requests; i++) {
            target.writeLong(book.asked[i]);
            target.writeLong(book.askedMs[i]);
        }
        target.writeInt(book.purchases);
        for (int i = 0; i < book.purchases; i++) {
            StringValue.writeString(book.ids[i], target);
            target.writeLong(book.shares[i]);
            target.writeLong(book.atMs[i]);
        }
    }

    @Override
    public Book deserialize(DataInputView source) throws IOException {
        Book book = new Book();
        book.client = StringValue.readString(source);
        book.stock = StringValue.readString(source);
        book.alerted = source.readBoolean();
        int requests = source.readInt();
        for (int i = 0; i < requests; i++) {
            book.addRequest(source.readLong(), source.readLong());
        }
        int purchases = source.readInt();
        for (int i = 0; i < purchases; i++) {
            book.addPurchase(StringValue.readString(source), source.readLong(), source.readLong());
        }
        return book;
    }

    @Override
    public TypeSerializerSnapshot<Book> snapshotConfiguration() {
        return new Snapshot();
    }

    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Book> {
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}

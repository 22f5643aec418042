package bench;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Keeps a book per order; a timer on the broker's time ends it. */
public final class Rule extends KeyedProcessFunction<String, Event, Rule.Found>
        implements CheckpointListener {
    private transient ValueState<Book> books;

    /** An alert on its way to its topic. */
    public static final class Found {
        public byte[] key;
        public byte[] value;
    }

    @Override
    public void open(OpenContext context) {
        books = getRuntimeContext().getState(
            new ValueStateDescriptor<>("book", BookCodec.INSTANCE));
    }

    @Override
    public void processElement(Event event, Context context, Collector<Found> out)
            throws Exception {
        Book book = books.value();
        if (book == null) {
            book = new Book();
            context.timerService().registerEventTimeTimer(event.atMs + 2 * Book.KEEP_MS);
        }
        book.take(event);
        Book.Exceeded found = book.alerted ? null : book.worst();
        if (found != null) {
            book.alerted = true;
            out.collect(found(event, book, found));
        }
        books.update(book);
    }

    private static Found found(Event event, Book book, Book.Exceeded exceeded) throws Exception {
        Found found = new Found();
        found.key = Alert.id(event.orderId).getBytes();
        found.value = Alert.encode(event.orderId, book, exceeded, event.atMs);
        return found;
    }

    @Override
    public void onTimer(long ms, OnTimerContext context, Collector<Found> out) throws Exception {
        Book book = books.value();
        if (book == null || book.forgetBefore(ms - Book.KEEP_MS)) {
            books.clear();
        } else {
            books.update(book);
            context.timerService().registerEventTimeTimer(ms + Book.KEEP_MS);
        }
    }

    @Override
    public void notifyCheckpointComplete(long checkpoint) {
        if (getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() == 0) {
            System.out.println("checkpoint " + System.currentTimeMillis());
        }
    }
}

package aldebaran.books;

import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The events of one key as bytes, in the sequence in which the broker appended them.
 *
 * <p>First how many events of its time had to go as the book was full (8 bytes), and when the newest was appended (8
 * bytes, ms since 1970); then for each event its length (4), its append time (8) and what {@link Layout} writes.
 */
final class Book {
    /** A book that would be longer gives up its oldest events: a task must get on with all its other keys. */
    static final int MOST_BYTES = 1 << 20;

    private static final int HEAD = 2 * Long.BYTES;
    private static final int ENTRY_HEAD = Integer.BYTES + Long.BYTES;

    private Book() {}

    /** One event of a book: where its own bytes begin, and when it was appended. */
    record Entry(ByteBuffer bytes, long atMs) {}

    /** Returns the book, null for none, with one more event, and without those appended before {@code oldestMs}. */
    static byte[] with(byte[] book, byte[] event, long atMs, long oldestMs) {
        int added = ENTRY_HEAD + event.length;
        int length = book == null ? HEAD : book.length;
        long forgotten = book == null ? 0 : forgotten(book);
        int kept = HEAD;
        while (kept < length && (atMsOf(book, kept) < oldestMs || length - kept + HEAD + added > MOST_BYTES)) {
            // What was given up was older than what goes by its time now, and would be gone as well.
            forgotten = atMsOf(book, kept) < oldestMs ? 0 : forgotten + 1;
            kept += ENTRY_HEAD + ByteBuffer.wrap(book).getInt(kept);
        }
        ByteBuffer grown = ByteBuffer.allocate(HEAD + length - kept + added);
        grown.putLong(forgotten).putLong(atMs);
        if (kept < length) {
            grown.put(book, kept, length - kept);
        }
        return grown.putInt(event.length).putLong(atMs).put(event).array();
    }

    private static long atMsOf(byte[] book, int entry) {
        return ByteBuffer.wrap(book).getLong(entry + Integer.BYTES);
    }

    /** Returns how many events of the book's time had to go as it was full. */
    static long forgotten(byte[] book) {
        return ByteBuffer.wrap(book).getLong(0);
    }

    /** Returns when the newest event was appended, in ms since 1970. */
    static long newestMs(byte[] book) {
        return ByteBuffer.wrap(book).getLong(Long.BYTES);
    }

    /** Walks through the events; an entry's bytes are good until the next is asked for. */
    static Iterator<Entry> entries(byte[] book) {
        ByteBuffer bytes = ByteBuffer.wrap(book);
        return new Iterator<>() {
            private int next = HEAD;

            @Override
            public boolean hasNext() {
                return next < book.length;
            }

            @Override
            public Entry next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                bytes.position(next);
                int length = bytes.getInt();
                long atMs = bytes.getLong();
                next = bytes.position() + length;
                return new Entry(bytes, atMs);
            }
        };
    }
}

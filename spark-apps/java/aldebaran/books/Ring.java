package aldebaran.books;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.unsafe.Platform;

/**
 * The values that were put last, by key, in one array; where there is no more room, the oldest are to be taken out
 * first.
 *
 * <p>Each as an object of its own would outlive some collections, and then change: Java's collector would copy all of
 * them again and again, and look through the old ones for what is new. A value that outgrows its place counts as new.
 */
public final class Ring {
    private static final int START_BYTES = 1 << 16;
    private static final int GROWTH = 4;
    private static final int BUCKETS = 1 << 14;
    private static final int NONE = -1;

    /** Where these stand in an entry: the next entry of its bucket, its key's hash, and lengths in bytes. */
    private static final int NEXT = 0;
    private static final int HASH = Integer.BYTES;
    private static final int KEY_BYTES = 2 * Integer.BYTES;
    /** Of an entry that is gone it is NONE. */
    private static final int VALUE_BYTES = 3 * Integer.BYTES;
    private static final int ENTRY_BYTES = 4 * Integer.BYTES;
    /** A whole number of longs, as entries begin where one could. */
    private static final int HEAD = 6 * Integer.BYTES;

    private final int entriesMost;
    private final int bytesMost;
    private final int[] buckets = new int[BUCKETS];
    private byte[] bytes;
    private int entries;
    /** From here on, round the array's end, so much is taken. */
    private int oldest;
    private int taken;

    /** A value and its key. */
    public record Entry(String key, byte[] value) {}

    /** Holds so many values at most, in so many bytes, of which it takes only what it needs. */
    public Ring(int entriesMost, int bytesMost) {
        this.entriesMost = entriesMost;
        this.bytesMost = bytesMost;
        clear(Math.min(START_BYTES, bytesMost));
    }

    private void clear(int length) {
        bytes = new byte[length];
        Arrays.fill(buckets, NONE);
        entries = 0;
        oldest = 0;
        taken = 0;
    }

    /** Returns a copy of the key's value, or null. */
    public byte[] get(String key) {
        int entry = find(utf8(key), key.hashCode());
        return entry == NONE ? null : value(entry);
    }

    /** Returns false, and holds nothing of this key, where there is no room: then take out the oldest and try again. */
    public boolean put(String key, byte[] value) {
        return put(key, value, value.length + value.length / 2);
    }

    private boolean put(String key, byte[] value, int room) {
        byte[] name = utf8(key);
        int entry = find(name, key.hashCode());
        if (entry != NONE && value.length > room(entry)) {
            unlink(entry);
            entry = NONE;
        }
        if (entry == NONE) {
            entry = added(name, key.hashCode(), room);
        }
        if (entry != NONE) {
            set(entry, VALUE_BYTES, value.length);
            System.arraycopy(value, 0, bytes, valueAt(entry), value.length);
        }
        return entry != NONE;
    }

    /** Forgets the key's value, if there is one. */
    public void remove(String key) {
        int entry = find(utf8(key), key.hashCode());
        if (entry != NONE) {
            unlink(entry);
        }
    }

    /** Returns the value that was put first, and holds it no more; null when nothing is left. */
    public Entry takeOldest() {
        leaveGone();
        if (taken == 0) {
            return null;
        }
        Entry one = entry(oldest);
        unlink(oldest);
        return one;
    }

    /** Gives free what was taken by entries that are gone, up to the first that is not. */
    private void leaveGone() {
        while (taken > 0 && isGone(oldest)) {
            int left = bytes.length - oldest;
            int length = left < HEAD ? left : get(oldest, ENTRY_BYTES);
            taken -= length;
            oldest = taken == 0 || length == left ? 0 : oldest + length;
        }
    }

    private boolean isGone(int entry) {
        return bytes.length - entry < HEAD || get(entry, VALUE_BYTES) == NONE;
    }

    private int added(byte[] name, int hash, int room) {
        int size = aligned(HEAD + name.length + room);
        if (entries == entriesMost || size > bytesMost) {
            return NONE;
        }
        leaveGone();
        while (!hasRoom(size) && bytes.length < bytesMost) {
            renew(size);
        }
        return hasRoom(size) ? link(place(size), name, hash) : NONE;
    }

    private static int aligned(int size) {
        return size + Long.BYTES - 1 & -Long.BYTES;
    }

    private boolean hasRoom(int size) {
        return taken + skipped(size) + size <= bytes.length;
    }

    /** How much stays empty at the array's end, as no entry goes round it. */
    private int skipped(int size) {
        int left = bytes.length - end();
        return size <= left ? 0 : left;
    }

    private int end() {
        int end = oldest + taken;
        return end < bytes.length ? end : end - bytes.length;
    }

    private int place(int size) {
        int skipped = skipped(size);
        if (skipped >= HEAD) {
            set(end(), VALUE_BYTES, NONE);
            set(end(), ENTRY_BYTES, skipped);
        }
        taken += skipped;
        int place = end();
        set(place, ENTRY_BYTES, size);
        taken += size;
        return place;
    }

    /** Frees what those who are gone take, and grows where that is little for what comes. */
    private void renew(int coming) {
        List<Entry> all = new ArrayList<>();
        long held = coming;
        for (Entry one = takeOldest(); one != null; one = takeOldest()) {
            all.add(one);
            held += HEAD + one.key.length() + one.value.length;
        }
        boolean grows = held * GROWTH > bytes.length;
        clear(grows ? (int) Math.min((long) bytes.length * GROWTH, bytesMost) : bytes.length);
        for (Entry one : all) {
            put(one.key, one.value, one.value.length);
        }
    }

    private int link(int entry, byte[] name, int hash) {
        set(entry, NEXT, buckets[bucket(hash)]);
        set(entry, HASH, hash);
        set(entry, KEY_BYTES, name.length);
        System.arraycopy(name, 0, bytes, entry + HEAD, name.length);
        buckets[bucket(hash)] = entry;
        entries++;
        return entry;
    }

    private int find(byte[] name, int hash) {
        int entry = buckets[bucket(hash)];
        while (entry != NONE && !(get(entry, HASH) == hash && isOf(entry, name))) {
            entry = get(entry, NEXT);
        }
        return entry;
    }

    private boolean isOf(int entry, byte[] name) {
        int key = entry + HEAD;
        return Arrays.equals(bytes, key, key + get(entry, KEY_BYTES), name, 0, name.length);
    }

    /** Its bytes stay until others come to lie there. */
    private void unlink(int entry) {
        int bucket = bucket(get(entry, HASH));
        int next = get(entry, NEXT);
        if (buckets[bucket] == entry) {
            buckets[bucket] = next;
        } else {
            int before = buckets[bucket];
            while (get(before, NEXT) != entry) {
                before = get(before, NEXT);
            }
            set(before, NEXT, next);
        }
        set(entry, VALUE_BYTES, NONE);
        entries--;
    }

    private Entry entry(int entry) {
        int key = entry + HEAD;
        return new Entry(new String(bytes, key, get(entry, KEY_BYTES), StandardCharsets.UTF_8), value(entry));
    }

    private byte[] value(int entry) {
        int value = valueAt(entry);
        return Arrays.copyOfRange(bytes, value, value + get(entry, VALUE_BYTES));
    }

    private int valueAt(int entry) {
        return entry + HEAD + get(entry, KEY_BYTES);
    }

    private int room(int entry) {
        return entry + get(entry, ENTRY_BYTES) - valueAt(entry);
    }

    private int get(int entry, int field) {
        return Platform.getInt(bytes, Platform.BYTE_ARRAY_OFFSET + entry + field);
    }

    private void set(int entry, int field, int value) {
        Platform.putInt(bytes, Platform.BYTE_ARRAY_OFFSET + entry + field, value);
    }

    private static int bucket(int hash) {
        return (hash ^ hash >>> 16) & BUCKETS - 1;
    }

    private static byte[] utf8(String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }
}

package aldebaran.books;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.spark.sql.streaming.ValueState;

/**
 * Which keys are to be looked at when, by the clock of each source: the append time of what came from it.
 *
 * <p>A key's events all come from one partition of one topic, in append time's sequence, so no clock but this one can
 * tell when nothing more of its time will come; a partition that is far behind, or stands still, loses nothing.
 * Spark's own timers look into the store after each event, which takes as long as the event itself; here a few keys
 * are looked at with each event, more at a batch's end, and no key is read while none is due.
 *
 * <p>Where a source's clock was ahead for a moment, this machine's own holds it back: keys are only ever looked at
 * later for it. What is read again long after has no such guard.
 */
final class Wheel {
    /** As fine as this the time is divided in which a book is kept, but not below a second. */
    private static final int STEPS = 1 << 16;
    private static final long STEP_LEAST_MS = 1000;
    private static final int STEPS_PER_EVENT = 64;
    private static final int KEYS_PER_EVENT = 4;
    /** At a batch's end, where a slow stream's few events leave its hand far behind: this is a whole `kept`. */
    private static final int STEPS_PER_BATCH = STEPS;
    private static final int KEYS_PER_BATCH = 256;
    private static final int KEYS_PER_BUNDLE = 16;
    private static final int BUNDLES_KNOWN = 1024;
    private static final int NOT_COUNTED = -1;
    /** No key of a stream has it. */
    private static final String BETWEEN = "\0";

    /** What is done with a key that is due, as its source's clock tells. */
    interface Look {
        void at(String key, int source, long nowMs);
    }

    /** Where one source's wheel stands. */
    private static final class Hand {
        private long step;
        /** The time of the last event that came from the source in this batch. */
        private long nowMs;
        /** How many bundles of this step are left; not known before they were counted. */
        private int bundles = NOT_COUNTED;
    }

    /** The bundle of a step that still has room. */
    private record Bundle(int number, int size, String keys) {
        Bundle with(String key) {
            if (size == KEYS_PER_BUNDLE) {
                return new Bundle(number + 1, 1, key);
            }
            return new Bundle(number, size + 1, size == 0 ? key : keys + BETWEEN + key);
        }
    }

    private final WriteBack<String> due;
    private final ValueState<Long> hands;
    private final long stepMs;
    private final LongSupplier clock;
    private final Look look;
    private final Map<Integer, Hand> known = new HashMap<>();
    private final Map<String, Bundle> open = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Bundle> eldest) {
            return size() > BUNDLES_KNOWN;
        }
    };

    /**
     * {@code due} holds keys by source, step and bundle: a row for each key would be as many as there are books, and
     * a list for each step is worse, since RocksDB copies the whole for whatever is appended. {@code hands} holds
     * each source's step that is to be looked at next. {@code clock} tells this machine's time in ms since 1970.
     */
    Wheel(WriteBack<String> due, ValueState<Long> hands, long keptMs, LongSupplier clock, Look look) {
        this.due = due;
        this.hands = hands;
        this.stepMs = Math.max(STEP_LEAST_MS, keptMs / STEPS);
        this.clock = clock;
        this.look = look;
    }

    /** Has a key looked at once the source's clock has passed {@code dueMs}. */
    void add(int source, String key, long dueMs, long nowMs) {
        long step = Math.max(dueMs / stepMs, hand(source, nowMs).step + 1);
        String place = place(source, step);
        Bundle grown = (open.containsKey(place) ? open.get(place) : new Bundle(bundles(place), 0, "")).with(key);
        open.put(place, grown);
        due.put(bundle(place, grown.number), grown.keys);
    }

    /** Counts a step's bundles, which have no gap, by few looks: each doubles, then halves, what is between. */
    private int bundles(String place) {
        int least = 0;
        int tooMany = 1;
        while (due.get(bundle(place, tooMany - 1)) != null) {
            least = tooMany;
            tooMany *= 2;
        }
        while (tooMany - least > 1) {
            int between = (least + tooMany) / 2;
            if (due.get(bundle(place, between - 1)) != null) {
                least = between;
            } else {
                tooMany = between;
            }
        }
        return least;
    }

    /** Looks at some of the keys that are due by now; few, since other events wait meanwhile. */
    void turn(int source, long nowMs) {
        Hand hand = hand(source, nowMs);
        hand.nowMs = nowMs;
        go(source, hand, nowMs, STEPS_PER_EVENT, KEYS_PER_EVENT);
    }

    /** Goes on by more with each source that had events in this batch: none waits for its row now. */
    void endBatch() {
        known.forEach((source, hand) -> go(source, hand, hand.nowMs, STEPS_PER_BATCH, KEYS_PER_BATCH));
    }

    private void go(int source, Hand hand, long sourceMs, int steps, int most) {
        long nowMs = Math.min(sourceMs, clock.getAsLong());
        Consumer<String> each = key -> look.at(key, source, nowMs);
        long before = hand.step;
        long until = Math.min(nowMs / stepMs, before + steps);
        for (int keys = most; hand.step < until; hand.step++, hand.bundles = NOT_COUNTED) {
            keys -= some(place(source, hand.step), hand, keys, each);
            if (hand.bundles > 0) {
                break;
            }
        }
        if (hand.step > before) {
            Keys.at(name(source));
            hands.update(hand.step);
        }
    }

    private Hand hand(int source, long nowMs) {
        Hand found = known.get(source);
        return found != null ? found : readHand(source, nowMs);
    }

    private Hand readHand(int source, long nowMs) {
        Keys.at(name(source));
        Hand hand = new Hand();
        if (hands.exists()) {
            hand.step = hands.get();
        } else {
            hand.step = nowMs / stepMs;
            hands.update(hand.step);
        }
        known.put(source, hand);
        return hand;
    }

    /** Looks at so many keys of a step at most, the last bundle first; returns how many it has looked at. */
    private int some(String place, Hand hand, int most, Consumer<String> each) {
        if (hand.bundles == NOT_COUNTED) {
            hand.bundles = bundles(place);
        }
        int looked = 0;
        while (looked < most && hand.bundles > 0) {
            looked += taken(bundle(place, hand.bundles - 1), hand, most - looked, each);
        }
        return looked;
    }

    /** What was looked at leaves its bundle at once, so that each batch gets further, however few its events are. */
    private int taken(String bundle, Hand hand, int most, Consumer<String> each) {
        List<String> keys = List.of(due.get(bundle).split(BETWEEN));
        int left = Math.max(0, keys.size() - most);
        if (left > 0) {
            due.put(bundle, String.join(BETWEEN, keys.subList(0, left)));
        } else {
            due.clear(bundle);
            hand.bundles--;
        }
        keys.subList(left, keys.size()).forEach(each);
        return keys.size() - left;
    }

    private static String name(int source) {
        return Integer.toString(source);
    }

    private static String place(int source, long step) {
        return source + "/" + step;
    }

    private static String bundle(String place, int number) {
        return place + "/" + number;
    }
}

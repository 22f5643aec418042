package bench;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** What is known of one order, and the rule: the same as the shipped watch's, event by event. */
public final class Book {
    public static final long EARLY_MS = 3_600_000L;
    public static final long LIMIT_MS = 24 * EARLY_MS;
    public static final long KEEP_MS = EARLY_MS + LIMIT_MS;

    public String client = "";
    public String stock = "";
    public boolean alerted;
    public int requests;
    public long[] asked = new long[1];
    public long[] askedMs = new long[1];
    public int purchases;
    public String[] ids = new String[4];
    public long[] shares = new long[4];
    public long[] atMs = new long[4];

    /** What a request asked for, and what was purchased for it. */
    public record Exceeded(long requested, long purchased) {}

    public void take(Event event) {
        if (event.isRequest) {
            addRequest(event.shares, event.atMs);
            client = event.client;
            stock = event.stock;
        } else {
            addPurchase(event.eventId, event.shares, event.atMs);
        }
    }

    public void addRequest(long wanted, long ms) {
        if (requests == asked.length) {
            asked = Arrays.copyOf(asked, 2 * requests);
            askedMs = Arrays.copyOf(askedMs, 2 * requests);
        }
        asked[requests] = wanted;
        askedMs[requests++] = ms;
    }

    public void addPurchase(String id, long bought, long ms) {
        if (purchases == ids.length) {
            ids = Arrays.copyOf(ids, 2 * purchases);
            shares = Arrays.copyOf(shares, 2 * purchases);
            atMs = Arrays.copyOf(atMs, 2 * purchases);
        }
        ids[purchases] = id;
        shares[purchases] = bought;
        atMs[purchases++] = ms;
    }

    /** Returns the least request that was exceeded, or null. */
    public Exceeded worst() {
        if (requests == 0 || bound() <= least()) {
            return null;
        }
        Exceeded worst = null;
        for (int i = 0; i < requests; i++) {
            long bought = purchasedFor(askedMs[i]);
            if (bought > asked[i] && (worst == null || asked[i] < worst.requested)) {
                worst = new Exceeded(asked[i], bought);
            }
        }
        return worst;
    }

    /** Forgets what cannot count for anything after this time; tells whether nothing is left. */
    public boolean forgetBefore(long ms) {
        int keptRequests = 0;
        for (int i = 0; i < requests; i++) {
            if (askedMs[i] >= ms) {
                asked[keptRequests] = asked[i];
                askedMs[keptRequests++] = askedMs[i];
            }
        }
        requests = keptRequests;
        int kept = 0;
        for (int i = 0; i < purchases; i++) {
            if (atMs[i] >= ms) {
                ids[kept] = ids[i];
                shares[kept] = shares[i];
                atMs[kept++] = atMs[i];
            }
        }
        purchases = kept;
        return requests == 0 && purchases == 0;
    }

    /** Never less than what any request can be given: copies and times are not looked at. */
    private long bound() {
        long sum = 0;
        for (int i = 0; i < purchases; i++) {
            sum += shares[i];
        }
        return sum;
    }

    private long least() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < requests; i++) {
            least = Math.min(least, asked[i]);
        }
        return least;
    }

    private long purchasedFor(long openedMs) {
        Map<String, Long> largest = new HashMap<>();
        for (int i = 0; i < purchases; i++) {
            if (atMs[i] >= openedMs - EARLY_MS && atMs[i] <= openedMs + LIMIT_MS) {
                largest.merge(ids[i], shares[i], Math::max);
            }
        }
        return largest.values().stream().mapToLong(Long::longValue).sum();
    }
}

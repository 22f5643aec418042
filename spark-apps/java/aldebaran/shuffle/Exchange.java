package aldebaran.shuffle;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** One shuffle of one batch: a lane for each task that reads, into which every task that writes may put. */
final class Exchange {
    /** Much more only makes a batch's end later under load: it waits for what is on its way. */
    private static final int LANE_BYTES = 1 << 20;

    private final Map<Integer, Lane> lanes = new ConcurrentHashMap<>();

    Lane lane(int reader) {
        return lanes.computeIfAbsent(reader, number -> new Lane(LANE_BYTES));
    }
}

package aldebaran.shuffle;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Rows on their way to one task, in the sequence in which each writer put them.
 *
 * <p>Writers fill one chunk while the reader works through another; who finds it full waits, so that at most
 * `most` bytes and one row are on their way. Each writer says that it begins, then puts, then says that it ends.
 * A writer in another process never does; a reader does not wait for it for ever.
 */
final class Lane {
    /** How often who waits looks whether its task was ended meanwhile. */
    private static final long LOOK_MS = 20;
    /** A task begins to write once its state is loaded, from a store perhaps, while who reads from it waits already. */
    private static final long BEGIN_LIMIT_SECONDS = 120;
    /** Where chunks come this close, the reader looks again after a nap: to wake it costs as much as to take a row. */
    private static final long DENSE_NS = TimeUnit.MICROSECONDS.toNanos(400);
    private static final long NAP_NS = TimeUnit.MICROSECONDS.toNanos(200);

    private final int most;
    private final long openedNs = System.nanoTime();
    private int expected = Integer.MAX_VALUE;
    private int begun;
    private int ended;
    private Chunk filling = new Chunk();
    private boolean readerWaits;
    /** The reader's own. */
    private boolean dense;
    private long takenAtNs;

    Lane(int most) {
        this.most = most;
    }

    /** Say how many write; each says so before it puts. */
    synchronized void writerBegins(int writers) {
        expected = writers;
        begun++;
    }

    /** Copy a row in, as soon as there is room. */
    synchronized void put(UnsafeRow row, TaskContext task) {
        while (filling.bytes() >= most) {
            await(task);
        }
        filling.add(row);
        if (readerWaits) {
            notifyAll();
        }
    }

    /** Say that one of those who write has nothing more to come. */
    synchronized void writerEnds() {
        ended++;
        notifyAll();
    }

    /** Give `emptied` back and take what was put meanwhile, as soon as it is one row; null when no more can come. */
    Chunk take(Chunk emptied, TaskContext task) {
        if (dense && isWaiting()) {
            LockSupport.parkNanos(NAP_NS);
        }
        Chunk taken = swapped(emptied, task);
        long now = System.nanoTime();
        dense = now - takenAtNs < DENSE_NS;
        takenAtNs = now;
        return taken;
    }

    private synchronized boolean isWaiting() {
        return filling.isEmpty() && ended < expected;
    }

    private synchronized Chunk swapped(Chunk emptied, TaskContext task) {
        while (isWaiting()) {
            readerWaits = true;
            await(task);
            readerWaits = false;
            refuseIfApart();
        }
        if (filling.isEmpty()) {
            // Spark forgets a shuffle only after a full collection; its bytes need not wait for that.
            filling = new Chunk();
            return null;
        }
        Chunk taken = filling;
        emptied.clear(most);
        filling = emptied;
        if (taken.bytes() >= most) {
            notifyAll();
        }
        return taken;
    }

    /** Tasks of a shuffle start together, so who has not begun by now writes elsewhere. The auditor knows the words. */
    private void refuseIfApart() {
        if (begun < expected && System.nanoTime() - openedNs > TimeUnit.SECONDS.toNanos(BEGIN_LIMIT_SECONDS)) {
            throw new IllegalStateException("a task that writes to this one has not begun here for "
                    + BEGIN_LIMIT_SECONDS + " s: it waits for a free slot, or runs in another process; then set "
                    + "spark.shuffle.manager.incremental to streaming");
        }
    }

    private void await(TaskContext task) {
        boolean over = task.isInterrupted();
        try {
            wait(LOOK_MS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            over = true;
        }
        if (over) {
            throw new TaskKilledException("its shuffle waited");
        }
    }
}

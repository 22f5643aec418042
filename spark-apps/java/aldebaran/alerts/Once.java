package aldebaran.alerts;

import aldebaran.sql.Call;
import java.io.Serializable;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Tells whether a task has not met a text before.
 *
 * <p>Each task has one of its own, which knows nothing of the batch before: what a batch did not write to its end is
 * found and told anew.
 */
public final class Once implements Serializable {
    /** So many texts are known; then what was met first is forgotten, and counts as new. */
    public static final int KNOWN = 10_000;

    private static final long serialVersionUID = 1;

    private transient Set<UTF8String> known;

    private Once() {}

    /** Returns a column of truths: whether a row is the first of its text in its task. */
    public static Column first(Column text) {
        return Call.of(new Once(), "isFirst", text, DataTypes.BooleanType, false);
    }

    /** Called by the code that Spark makes, with a text whose bytes it may use again. */
    public boolean isFirst(UTF8String text) {
        if (known == null) {
            known = new LinkedHashSet<>();
        }
        if (known.contains(text)) {
            return false;
        }
        if (known.size() == KNOWN) {
            known.remove(known.iterator().next());
        }
        return known.add(text.copy());
    }
}

package aldebaran.books;

import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.ImplicitGroupingKeyTracker$;

/** Whose state Spark reads and writes. */
final class Keys {
    private Keys() {}

    /** Makes all state that follows that of this key, whatever key Spark has called for. */
    static void at(String key) {
        ImplicitGroupingKeyTracker$.MODULE$.setImplicitKey(key);
    }
}

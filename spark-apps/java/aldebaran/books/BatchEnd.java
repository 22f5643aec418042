package aldebaran.books;

import java.lang.reflect.Proxy;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.DriverStatefulProcessorHandleImpl;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleImpl;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.ttl.TTLState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;

/**
 * What is to be done after a batch's last event and before its state is committed.
 *
 * <p>Spark offers no such call. What it does at this moment is to clear what has expired in each state with a time to
 * live, so the work goes into the list of these.
 */
final class BatchEnd {
    private static final String CLEAR_EXPIRED = "clearExpiredStateForAllKeys";

    private BatchEnd() {}

    /**
     * Has {@code work} done before each commit; in between too, where Spark clears more often. The driver has no
     * state.
     */
    static void before(StatefulProcessorHandle handle, Runnable work) {
        if (!(handle instanceof DriverStatefulProcessorHandleImpl)) {
            ((StatefulProcessorHandleImpl) handle).ttlStates().add(state(work));
        }
    }

    private static TTLState state(Runnable work) {
        Class<?>[] shape = {TTLState.class};
        return (TTLState) Proxy.newProxyInstance(BatchEnd.class.getClassLoader(), shape, (self, method, given) -> {
            if (!method.getName().equals(CLEAR_EXPIRED)) {
                throw new UnsupportedOperationException(method.toString());
            }
            work.run();
            return 0L;
        });
    }
}

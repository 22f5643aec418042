package aldebaran.sql;

import java.io.Serializable;
import java.util.Arrays;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import scala.collection.immutable.List;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** A method of ours as a column: Spark's code calls it with its own values, nothing is converted. */
public final class Call {
    private Call() {}

    /**
     * Returns what the object's method returns for a column's value; null for null. Each task has a copy of the object.
     *
     * @param result what the method returns
     * @param pure whether equal values have equal results, so that Spark may call it as often and as early as it likes
     */
    public static Column of(Serializable object, String method, Column argument, DataType result, boolean pure) {
        Literal called = Literal.create(object, new ObjectType(object.getClass()));
        Seq<Expression> given = listed(ExpressionUtils.expression(argument));
        return ExpressionUtils.column(new Invoke(called, method, result, given, listed(), true, true, pure));
    }

    /** Returns a sequence of Scala's. */
    @SafeVarargs
    public static <T> Seq<T> listed(T... items) {
        return List.from(CollectionConverters.asScala(Arrays.asList(items)));
    }
}

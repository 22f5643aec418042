package aldebaran.sql;

import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StringType;

/** The types of columns that our classes read and write by themselves. */
public enum Kind {
    TEXT,
    LONG,
    DOUBLE,
    TRUTH;

    /** Returns null for every other type. */
    public static Kind of(DataType type) {
        if (type instanceof StringType) {
            return TEXT;
        }
        if (type instanceof LongType) {
            return LONG;
        }
        if (type instanceof DoubleType) {
            return DOUBLE;
        }
        return type instanceof BooleanType ? TRUTH : null;
    }
}

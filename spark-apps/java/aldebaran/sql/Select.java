package aldebaran.sql;

import java.util.HashMap;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.parser.NamedParameterContext;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.classic.SparkSession;
import scala.collection.immutable.Map;
import scala.jdk.javaapi.CollectionConverters;

/** Declared SQL, which Spark reads once: what is run is what was judged, not its text read again. */
public final class Select {
    private final SparkSession session;
    private final TreeNode<?> parsed;

    private Select(SparkSession session, TreeNode<?> parsed) {
        this.session = session;
        this.parsed = parsed;
    }

    /** Reads a query; the arguments are the values of its {@code :name} markers. */
    public static Select query(SparkSession session, String sql, java.util.Map<String, Object> arguments)
            throws ParseException {
        NamedParameterContext given = new NamedParameterContext(literals(arguments));
        return read(session, parser -> parser.parsePlanWithParameters(sql, given));
    }

    /** Reads a value that is made of one row. */
    public static Select value(SparkSession session, String sql) throws ParseException {
        return read(session, parser -> parser.parseExpression(sql));
    }

    /** Returns what the SQL does that it may not, or an empty text; it may read these tables. */
    public String refusal(List<String> tables) {
        return new Judge(parsed, tables).refusal();
    }

    /** Returns the rows of a query. */
    public Dataset<Row> rows() {
        return Dataset.ofRows(session, (LogicalPlan) parsed);
    }

    /** Returns a value as a column. */
    public Column column() {
        return ExpressionUtils.column((Expression) parsed);
    }

    /** The parser goes by the settings of the active session. */
    private static Select read(SparkSession session, Reading reading) throws ParseException {
        Object read = session.withActive(() -> {
            try {
                return reading.by(session.sessionState().sqlParser());
            } catch (ParseException problem) {
                return problem;
            }
        });
        if (read instanceof ParseException problem) {
            throw problem;
        }
        return new Select(session, (TreeNode<?>) read);
    }

    private static Map<String, Expression> literals(java.util.Map<String, Object> arguments) {
        java.util.Map<String, Expression> given = new HashMap<>();
        arguments.forEach((name, value) -> given.put(name, Literal$.MODULE$.apply(value)));
        return Map.from(CollectionConverters.asScala(given));
    }

    private interface Reading {
        TreeNode<?> by(ParserInterface parser) throws ParseException;
    }
}

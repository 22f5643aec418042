package aldebaran.sql;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.analysis.ExpressionWithUnresolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.ResolvedInlineTable;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.analysis.UnresolvedGenerator;
import org.apache.spark.sql.catalyst.analysis.UnresolvedHaving;
import org.apache.spark.sql.catalyst.analysis.UnresolvedInlineTable;
import org.apache.spark.sql.catalyst.analysis.UnresolvedQualify;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.analysis.UnresolvedSubqueryColumnAliases;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTVFAliases;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction;
import org.apache.spark.sql.catalyst.expressions.PipeOperator;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Distinct;
import org.apache.spark.sql.catalyst.plans.logical.Except;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.Intersect;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LateralJoin;
import org.apache.spark.sql.catalyst.plans.logical.LimitAll;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Offset;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Pivot;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.RepartitionByExpression;
import org.apache.spark.sql.catalyst.plans.logical.Sample;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.Unpivot;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedHint;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedWith;
import org.apache.spark.sql.catalyst.plans.logical.WithWindowDefinition;
import scala.Product;
import scala.collection.Iterable;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Holds what Spark has read to a SELECT over known tables by known functions.
 *
 * <p>It names what may be there, so that what a later Spark can do is refused until somebody has looked at it. It comes
 * before names are resolved, so what we ourselves add to a query is not judged.
 */
final class Judge {
    private static final Set<Class<?>> STEPS = Set.of(
            Aggregate.class,
            Distinct.class,
            Except.class,
            Filter.class,
            Generate.class,
            GlobalLimit.class,
            Intersect.class,
            Join.class,
            LateralJoin.class,
            LimitAll.class,
            LocalLimit.class,
            LocalRelation.class,
            Offset.class,
            OneRowRelation.class,
            PipeOperator.class,
            Pivot.class,
            Project.class,
            RepartitionByExpression.class,
            ResolvedInlineTable.class,
            Sample.class,
            Sort.class,
            SubqueryAlias.class,
            Union.class,
            Unpivot.class,
            UnresolvedHaving.class,
            UnresolvedHint.class,
            UnresolvedInlineTable.class,
            UnresolvedQualify.class,
            UnresolvedRelation.class,
            UnresolvedSubqueryColumnAliases.class,
            UnresolvedTVFAliases.class,
            UnresolvedTableValuedFunction.class,
            UnresolvedWith.class,
            WithWindowDefinition.class);

    private final List<Object> parts;
    private final Set<String> tables = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);

    Judge(Object parsed, Collection<String> tables) {
        parts = parts(parsed);
        this.tables.addAll(tables);
        parts.stream().filter(UnresolvedWith.class::isInstance).forEach(with -> addNames((UnresolvedWith) with));
    }

    /** Returns what is done that may not be, as it stands behind "the SQL"; an empty text if there is nothing. */
    String refusal() {
        return parts.stream().map(this::refusal).filter(found -> !found.isEmpty()).distinct().sorted()
                .collect(Collectors.joining(", and "));
    }

    private void addNames(UnresolvedWith with) {
        CollectionConverters.asJava(with.cteRelations()).forEach(each -> tables.add(each._1()));
    }

    private String refusal(Object part) {
        if (part instanceof LogicalPlan && !STEPS.contains(part.getClass())) {
            return "has " + part.getClass().getSimpleName() + " in it; it must be one SELECT";
        }
        if (part instanceof UnresolvedRelation table) {
            return ofTable(table);
        }
        if (part instanceof ExpressionWithUnresolvedIdentifier) {
            return "calls identifier; it may read events only";
        }
        if (part instanceof UnresolvedFunction called) {
            return ofFunction(called.nameParts());
        }
        if (part instanceof UnresolvedTableValuedFunction called) {
            return ofFunction(called.name());
        }
        return part instanceof UnresolvedGenerator called ? ofFunction(called.name().nameParts()) : "";
    }

    private String ofTable(UnresolvedRelation table) {
        List<String> name = CollectionConverters.asJava(table.multipartIdentifier());
        if (name.size() == 1 && tables.contains(name.get(0)) && table.options().isEmpty()) {
            return "";
        }
        return "reads " + String.join(".", name) + "; add it to `streams`, or correct the name";
    }

    private static String ofFunction(Seq<String> parts) {
        List<String> name = CollectionConverters.asJava(parts);
        boolean known = name.size() == 1 && Functions.mayBeCalled(name.get(0));
        return known ? "" : "calls " + String.join(".", name) + "; it may read events only";
    }

    /** Goes through all that nodes hold, not only their children: statements hide some, as subqueries are. */
    private static List<Object> parts(Object parsed) {
        List<Object> found = new ArrayList<>();
        Deque<Object> ahead = new ArrayDeque<>(List.of(parsed));
        while (!ahead.isEmpty()) {
            Object next = ahead.pop();
            found.add(next);
            Iterator<?> held = held(next);
            while (held.hasNext()) {
                Object each = held.next();
                if (each instanceof Product || each instanceof Iterable) {
                    ahead.push(each);
                }
            }
        }
        return found;
    }

    private static Iterator<?> held(Object part) {
        return part instanceof Iterable<?> many ? many.iterator() : ((Product) part).productIterator();
    }
}

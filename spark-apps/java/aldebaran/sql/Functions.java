package aldebaran.sql;

import java.util.Locale;
import java.util.Set;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry;
import org.apache.spark.sql.catalyst.analysis.TableFunctionRegistry;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import scala.Option;

/**
 * Which of Spark's functions declared SQL may call: those that make a value of the values that they are given.
 *
 * <p>Not so reflect and its like, which call any Java; those that read a file named in their options (XML's schemas,
 * Avro's, descriptors of protobuf); those that tell of the machine, its files, users and catalogs.
 */
final class Functions {
    /** Groups of Spark's own documentation; every function is in one. */
    private static final Set<String> GROUPS = Set.of(
            "agg_funcs",
            "array_funcs",
            "bitwise_funcs",
            "collection_funcs",
            "conditional_funcs",
            "conversion_funcs",
            "csv_funcs",
            "datetime_funcs",
            "generator_funcs",
            "hash_funcs",
            "json_funcs",
            "lambda_funcs",
            "map_funcs",
            "math_funcs",
            "predicate_funcs",
            "sketch_funcs",
            "st_funcs",
            "string_funcs",
            "struct_funcs",
            "url_funcs",
            "variant_funcs",
            "vector_funcs",
            "window_funcs");

    /** Of the groups that also hold others. */
    private static final Set<String> NAMES = Set.of(
            "aes_decrypt",
            "aes_encrypt",
            "assert_true",
            "bitmap_bit_position",
            "bitmap_bucket_number",
            "bitmap_count",
            "hmac",
            "monotonically_increasing_id",
            "raise_error",
            "spark_partition_id",
            "to_xml",
            "try_aes_decrypt",
            "typeof",
            "uuid",
            "version",
            "xpath",
            "xpath_boolean",
            "xpath_double",
            "xpath_float",
            "xpath_int",
            "xpath_long",
            "xpath_number",
            "xpath_short",
            "xpath_string");

    private Functions() {}

    /** Returns whether it may be called; one that Spark does not have may not. */
    static boolean mayBeCalled(String name) {
        FunctionIdentifier called = new FunctionIdentifier(name);
        return NAMES.contains(name.toLowerCase(Locale.ROOT))
                || isOfAGroup(FunctionRegistry.builtin().lookupFunction(called))
                || isOfAGroup(TableFunctionRegistry.builtin().lookupFunction(called));
    }

    private static boolean isOfAGroup(Option<ExpressionInfo> found) {
        return found.exists(each -> GROUPS.contains(each.getGroup()));
    }
}

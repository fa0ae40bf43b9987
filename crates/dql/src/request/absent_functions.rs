//! Functions that other languages have and DQL has not, and what is written instead. They are for
//! hints of errors alone.

/// What is done with a variable by whose values nodes are to be grouped.
pub(super) const GROUPED_VARIABLE: &str = "store it as a predicate first, by an upsert that sets `uid(x) <group> val(x) .`, or in Python by \
     `.store(\"group\")` of an algorithm's result, and write `@groupby(group)`";

/// What is written for a function instead of a field.
pub(super) fn written_for(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "mean" | "average" => "write `avg(val(x))`",
        "percentile" | "percentile_cont" | "quantile_cont" => "write `quantile(val(x), 0.9)`",
        "std" | "stdev" | "stddev_samp" => "write `stddev(val(x))`",
        "var" | "var_samp" => "write `variance(val(x))`",
        "mode" | "stddev_pop" | "var_pop" => {
            "a data frame has it; there are min, max, sum, avg, median, quantile, stddev and variance of variables, and \
             count"
        }
        "distinct" | "unique" | "count_distinct" | "countdistinct" | "n_unique" | "nunique" => {
            "write `count(distinct val(x))`, or below `@groupby` `count(distinct name)`; `@groupby(name) { count(uid) }` has \
             a row for each value"
        }
        "minimum" | "least" => "write `min(val(x))`",
        "maximum" | "greatest" => "write `max(val(x))`",
        "total" => "write `sum(val(x))`",
        "length" | "size" => "write `count(friend)` for edges and values",
        "collect" | "collect_list" | "array_agg" | "list" => {
            "what a field finds comes as a list by itself: `friend { name }`"
        }
        "abs" | "round" | "coalesce" | "if" | "case" => {
            "numbers are computed by `math`, as in `y: math(cond(x < 0, 0 - x, x))`"
        }
        "lower" | "upper" | "concat" | "substring" | "trim" | "tolower" | "toupper" => {
            "texts are not computed: do it with the answer"
        }
        _ => return None,
    })
}

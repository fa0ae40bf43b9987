//! A query for each feature of the language, over the film data.

/// The names of the features, and a query that is about each.
pub const FEATURES: &[(&str, &str)] = &[
    ("eq_list", r#"{ q(func: eq(release_year, [1960, 1970, 1980]), first: 100) { title } }"#),
    ("between", "{ q(func: between(release_year, 1968, 1969)) { count(uid) } }"),
    (
        "between_filter",
        "{ q(func: has(title)) @filter(between(title_len, 10, 11)) { count(uid) } }",
    ),
    ("has_ordered", "{ q(func: has(release_year), orderasc: release_year, first: 50) { title } }"),
    ("type", "{ q(func: type(Director)) { count(uid) } }"),
    (
        "uid_in",
        "{ q(func: has(title), first: 100) @filter(uid_in(directed_by, 0x2717)) { title } }",
    ),
    ("match", r#"{ q(func: match(title, "Casablanka", 3)) { title } }"#),
    (
        "regexp_filter",
        "{ q(func: type(Director)) @filter(regexp(name@en, /^Jo.n/)) { count(uid) } }",
    ),
    ("alloftext", r#"{ q(func: alloftext(title, "the runners of the night")) { title } }"#),
    (
        "count_filter",
        "{ q(func: has(director.film)) @filter(ge(count(director.film), 20)) { count(uid) } }",
    ),
    (
        "not_or",
        r#"{ q(func: anyofterms(title, "night day")) @filter(not (eq(release_year, 1999) or has(premiere))) { count(uid) } }"#,
    ),
    ("language_list", "{ q(func: has(directed_by), first: 200) { name@de:fr:en:. } }"),
    ("language_all", "{ q(func: has(directed_by), first: 100) { name@* } }"),
    ("list_values", "{ q(func: has(also_known_as), first: 200) { also_known_as } }"),
    ("facets_fetch", "{ q(func: has(directed_by), first: 200) { directed_by @facets { uid } } }"),
    (
        "facets_filter",
        "{ q(func: has(directed_by), first: 500) { directed_by @facets(gt(weight, 1.2)) { uid } } }",
    ),
    (
        "facets_order",
        "{ q(func: has(director.film), first: 200) { director.film @facets(orderdesc: nth) { uid } } }",
    ),
    (
        "facets_var",
        "{ var(func: has(directed_by), first: 2000) { directed_by @facets(w as weight) } q() { sum(val(w)) } }",
    ),
    (
        "var_propagation",
        "{ var(func: type(Film), first: 5000) { y as release_year directed_by { z as math(y + 1) } } q() { max(val(z)) } }",
    ),
    (
        "math",
        "{ var(func: has(title_len)) { l as title_len m as math(sqrt(l) * 2 + cond(l > 20, 1, 0)) } q() { avg(val(m)) } }",
    ),
    (
        "aggregate_levels",
        "{ q(func: has(director.film), first: 300) { director.film { y as release_year } min(val(y)) max(val(y)) } }",
    ),
    (
        "groupby_uid",
        "{ q(func: has(directed_by), first: 20000) @groupby(directed_by) { count(uid) } }",
    ),
    (
        "groupby_two_keys",
        "{ q(func: type(Director)) @groupby(prolific, film_count) { count(uid) avg(pace) } }",
    ),
    (
        "groupby_below",
        "{ q(func: has(director.film), first: 300) { director.film @groupby(release_year) { count(uid) } } }",
    ),
    (
        "cascade",
        "{ q(func: type(Film), first: 1000) @cascade { title release_year directed_by { pace } } }",
    ),
    (
        "cascade_fields",
        "{ q(func: type(Film), first: 1000) @cascade(premiere) { title premiere directed_by { name@en } } }",
    ),
    (
        "normalize",
        "{ q(func: type(Film), first: 300) @normalize { t: title directed_by { n: name@en } } }",
    ),
    (
        "ignorereflex",
        "{ q(func: type(Film), first: 300) @ignorereflex { title directed_by { ~directed_by { title } } } }",
    ),
    (
        "recurse_values",
        "{ q(func: uid(0x28ae)) @recurse(depth: 6) { t as title_len directed_by ~directed_by } s() { sum(val(t)) } }",
    ),
    ("shortest_plain", "{ shortest(from: 0x7471, to: 0x7faa) { directed_by ~directed_by } }"),
    (
        "shortest_three",
        "{ shortest(from: 0x28ae, to: 0x2717, numpaths: 3, depth: 6) { directed_by ~directed_by } }",
    ),
    ("expand_all", "{ q(func: type(Film), first: 200) { expand(_all_) { name@en } } }"),
    ("expand_type", "{ q(func: type(Director), first: 200) { expand(Director) } }"),
    (
        "len",
        "{ x as var(func: eq(release_year, 1999)) q(func: uid(x), first: 10) @filter(gt(len(x), 5)) { title } }",
    ),
    (
        "order_three_keys",
        "{ q(func: type(Director), orderdesc: film_count, orderasc: pace, orderasc: name@en, first: 20) { name@en } }",
    ),
    (
        "order_below",
        "{ q(func: has(director.film), first: 300) { director.film (orderasc: title, first: 3) { title } } }",
    ),
    ("reverse", "{ q(func: has(~directed_by), first: 300) { ~directed_by { title } } }"),
    ("count_below", "{ q(func: type(Director), first: 1000) { count(director.film) } }"),
    ("schema", "schema { type index }"),
];

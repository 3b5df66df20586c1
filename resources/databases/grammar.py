"""What a statement may be made of: node types of the parser and names of functions, by dialect.

Everything that does not stand here is refused. The lists hold what only computes from its arguments: no function that
reads files or settings, sleeps, locks, signals, sends, or runs SQL it is handed as text.
"""

from __future__ import annotations

from interlace.resources.databases.url import Dialect


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


READ_ROOTS = _words("Select Union Except Intersect Subquery Values")
WRITE_ROOTS = _words("Insert Update Delete Merge")
DDL_ROOTS = _words("Create Drop Alter TruncateTable")

READ_NODES = _words("""
    Select Union Except Intersect Subquery Values With CTE From Join Where Group Having Order Ordered Limit Offset Fetch
    Distinct Qualify Window WindowSpec Windows Lateral Unnest Table TableAlias TableSample Alias Aliases Column
    Identifier Star Paren Tuple Literal Boolean Null Placeholder Var DataType DataTypeParam Interval IntervalSpan
    Rollup Cube GroupingSets Filter WithinGroup IgnoreNulls RespectNulls HavingMax Pivot
    Add Sub Mul Div IntDiv Mod Neg And Or Xor Not EQ NEQ GT GTE LT LTE Is In Between Like ILike SimilarTo Escape Glob Match
    RegexpLike RegexpILike NullSafeEQ NullSafeNEQ DPipe BitwiseAnd BitwiseOr BitwiseXor BitwiseNot BitwiseLeftShift
    BitwiseRightShift Collate AtTimeZone Dot Bracket Slice Exists Any All If Case PropertyEQ Kwarg
    JSONPath JSONPathRoot JSONPathKey JSONPathSubscript JSONPathWildcard JSONPathSlice JSONPathRecursive JSONPathUnion
    JSONBExtract JSONBExtractScalar JSONExtract JSONExtractScalar JSONBContains JSONBContainsTopKey
    JSONBContainsAnyTopKeys JSONBContainsAllTopKeys JSONBDeleteAtPath ArrayContainsAll ArrayContainedBy ArrayOverlaps
    Array List Anonymous BitString HexString ByteString RawString National ColumnDef FormatJson JSONKeyValue JSONColumnDef
    JSONSchema Ordinality Overlaps Adjacent ExtendsLeft ExtendsRight Partition Introducer
    Distance Pow SafeDivide ToMap Struct Lambda Comprehension JSONValue IndexTableHint LimitOptions
""")
WRITE_NODES = READ_NODES | _words("Insert Update Delete Merge When Whens Returning OnConflict Schema")
DDL_NODES = WRITE_NODES | _words("""
    Create Drop Alter TruncateTable Index IndexParameters Constraint ColumnConstraint PrimaryKey ForeignKey Reference
    AutoIncrementColumnConstraint CheckColumnConstraint CollateColumnConstraint CommentColumnConstraint
    ComputedColumnConstraint DefaultColumnConstraint GeneratedAsIdentityColumnConstraint IndexColumnConstraint
    NotNullColumnConstraint OnUpdateColumnConstraint PrimaryKeyColumnConstraint UniqueColumnConstraint
    CharacterSetColumnConstraint NotNull AddConstraint AlterColumn AlterRename RenameColumn RenameTable DropColumn
    Properties EngineProperty CharacterSetProperty CollateProperty SchemaCommentProperty AutoIncrementProperty
    StrictProperty WithoutRowidProperty LikeProperty MaterializedProperty TemporaryProperty RowFormatProperty
    GeneratedAsRowColumnConstraint DropPrimaryKey DropConstraint ColumnPosition
""")
DDL_KINDS = _words("TABLE VIEW INDEX SCHEMA SEQUENCE COLUMN")
ENGINES = _words("innodb aria myisam")

# Calls that the parser knows by syntax and keeps no written name of.
NAMELESS = _words("""
    Cast TryCast Extract Substring Trim Case If Exists Any All And Or Xor Overlay StrPosition CurrentDate CurrentTime
    CurrentTimestamp CurrentDatetime CurrentUser SessionUser Localtime Localtimestamp CurrentCatalog CurrentRole
    CurrentSchema Ceil Floor GroupConcat MatchAgainst JSONTable JSONObject JSONObjectAgg JSONArray JSONArrayAgg XMLElement
    TsOrDsToTimestamp TsOrDsToDate TimestampTrunc DateAdd DateSub Convert Decode Normalize Position Values Unnest
    JSONBExtract JSONBExtractScalar JSONExtract JSONExtractScalar JSONBContains JSONBContainsTopKey JSONBContainsAnyTopKeys
    JSONBContainsAllTopKeys JSONBDeleteAtPath ArrayContainsAll ArrayContainedBy ArrayOverlaps Array List Interval
    RegexpLike RegexpILike Collate Pow TimeToStr StrToTime StrToDate JSONArrayContains UnixToTime CharacterLength
       Lag Lead FirstValue LastValue NthValue Concat Coalesce Lower Upper Length Abs Round
    AnyValue Max Min ArgMax ArgMin ApproxQuantile PercentileCont PercentileDisc Map
    UtcDate UtcTime UtcTimestamp Rand Sqrt ToChar ToNumber Chr
    TsOrDsAdd DateDiff TsOrDsDiff Date Timestamp Day Month Year Quarter Week DayOfMonth DayOfWeek DayOfYear
""")

_COMMON = _words("""
    abs ceil ceiling floor round sign sqrt exp ln log log10 log2 power pow mod pi degrees radians
    sin cos tan asin acos atan atan2 cot random greatest least
    count sum avg min max coalesce nullif ifnull concat concat_ws lower upper length char_length character_length
    octet_length trim ltrim rtrim replace substr substring left right lpad rpad reverse position instr repeat
    ascii char chr hex unhex quote initcap translate format date time now current_date current_time
    current_timestamp localtime localtimestamp cast extract exists case if values row
    row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
    grouping rollup cube any all some array
""")
_POSTGRES = _words("""
    array_agg array_append array_cat array_dims array_length array_lower array_ndims array_position array_positions
    array_prepend array_remove array_replace array_to_string array_upper cardinality string_to_array string_agg unnest
    trim_array array_fill generate_series generate_subscripts
    bit_and bit_or bit_xor bool_and bool_or every bit_length btrim overlay split_part starts_with strpos
    string_to_table regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array
    regexp_split_to_table regexp_substr to_hex md5 sha224 sha256 sha384 sha512 encode decode convert_from convert_to
    quote_ident quote_literal quote_nullable normalize parse_ident
    age clock_timestamp date_bin date_part date_trunc isfinite justify_days justify_hours justify_interval make_date
    make_interval make_time make_timestamp make_timestamptz statement_timestamp timeofday to_char to_date to_number
    to_timestamp transaction_timestamp timezone
    json_agg json_array_elements json_array_elements_text json_array_length json_build_array json_build_object json_each
    json_each_text json_extract_path json_extract_path_text json_object json_object_agg json_object_keys
    json_populate_record json_populate_recordset json_strip_nulls json_to_record json_to_recordset json_typeof to_json
    row_to_json array_to_json jsonb_agg jsonb_array_elements jsonb_array_elements_text jsonb_array_length
    jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_insert
    jsonb_object jsonb_object_agg jsonb_object_keys jsonb_path_exists jsonb_path_match jsonb_path_query
    jsonb_path_query_array jsonb_path_query_first jsonb_populate_record jsonb_populate_recordset jsonb_pretty jsonb_set
    jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_typeof to_jsonb
    corr covar_pop covar_samp regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
    stddev stddev_pop stddev_samp var_pop var_samp variance mode percentile_cont percentile_disc width_bucket
    cbrt div factorial gcd lcm scale min_scale trim_scale trunc sind cosd tand sinh cosh tanh asinh acosh atanh
    gen_random_uuid num_nonnulls num_nulls any_value
    lower_inc upper_inc lower_inf upper_inf isempty range_merge int4range int8range numrange tsrange tstzrange daterange
    to_tsvector to_tsquery plainto_tsquery phraseto_tsquery websearch_to_tsquery ts_rank ts_rank_cd ts_headline setweight
    strip numnode querytree tsvector_to_array
    host hostmask broadcast family masklen netmask network set_masklen text abbrev
    similarity word_similarity strict_word_similarity show_trgm unaccent levenshtein soundex metaphone
    version current_database current_schema current_user session_user pg_typeof col_description obj_description
    to_regclass format_type
    l2_distance inner_product cosine_distance l1_distance vector_dims vector_norm
    st_distance st_dwithin st_within st_contains st_intersects st_point st_makepoint st_setsrid st_x st_y st_astext
    st_asgeojson st_area st_length st_transform st_buffer st_centroid st_geomfromtext
    float8 float4 int2 int4 int8 numeric bool varchar bpchar timestamp timestamptz interval
""")
_MYSQL = _words("""
    adddate addtime curdate curtime date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear
    from_days from_unixtime get_format hour last_day makedate maketime microsecond minute month monthname period_add
    period_diff quarter sec_to_time second str_to_date subdate subtime sysdate time_format time_to_sec timediff timestamp
    timestampadd timestampdiff to_days to_seconds unix_timestamp utc_date utc_time utc_timestamp week weekday weekofyear
    year yearweek convert_tz
    bin bit_length conv crc32 elt export_set field find_in_set from_base64 lcase locate make_set mid oct ord
    regexp_instr regexp_replace regexp_substr regexp_like soundex space strcmp substring_index to_base64 ucase
    insert convert binary sformat natural_sort_key lengthb trim_oracle
    json_array json_array_append json_array_insert json_compact json_contains json_contains_path json_depth json_detailed
    json_equals json_exists json_extract json_insert json_keys json_length json_loose json_merge_patch
    json_merge_preserve json_normalize json_object json_objectagg json_arrayagg json_overlaps json_pretty json_query
    json_quote json_remove json_replace json_search json_set json_table json_type json_unquote json_valid json_value
    bit_and bit_or bit_xor bit_count group_concat std stddev stddev_pop stddev_samp var_pop var_samp variance median
    percentile_cont percentile_disc truncate rand isnull nvl nvl2 interval md5 sha sha1 sha2 uuid inet_aton inet_ntoa
    inet6_aton inet6_ntoa is_ipv4 is_ipv6 uuid_to_bin bin_to_uuid any_value match against
    version database schema current_user user signed unsigned decimal datetime
    vec_distance vec_distance_euclidean vec_distance_cosine vec_fromtext vec_totext
""")
_SQLITE = _words("""
    datetime julianday strftime unixepoch timediff typeof unicode glob like likely unlikely likelihood iif printf
    total group_concat string_agg total_changes   octet_length trunc acosh asinh atanh cosh sinh tanh
    json json_array json_array_length json_extract json_insert json_object json_patch json_quote json_remove json_replace
    json_set json_type json_valid json_group_array json_group_object json_each json_tree json_error_position json_pretty
    jsonb jsonb_array jsonb_extract jsonb_object jsonb_group_array jsonb_group_object jsonb_set
    soundex sqlite_version match bm25 highlight snippet regexp concat concat_ws format generate_series
    unhex nullif median percentile
""")
# Without those that make text of any length out of little (repeat, lpad, …): they are in _COMMON, and the memory limit of
# the process is what holds them.
_DUCKDB = _words("""
    age century date_add date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth
    dayofweek dayofyear decade epoch epoch_ms epoch_ns epoch_us era from_days hour isodow isoyear julian last_day make_date
    make_time make_timestamp make_timestamptz microsecond millennium millisecond minute month monthname nanosecond quarter
    second strftime strptime time_bucket timezone timezone_hour timezone_minute to_centuries to_days to_decades to_hours
    to_microseconds to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years today
    transaction_timestamp try_strptime week weekday weekofyear year yearweek
    array_extract array_slice bar base64 bin bit_length contains damerau_levenshtein editdist3 ends_with from_base64
    from_hex greatest_common_divisor hamming hash instr jaccard jaro_similarity jaro_winkler_similarity lcase left_grapheme
    length_grapheme levenshtein like_escape md5 mismatches nfc_normalize not_ilike_escape not_like_escape ord parse_dirname
    parse_dirpath parse_filename parse_path prefix printf regexp_escape regexp_extract regexp_extract_all
    regexp_full_match regexp_matches regexp_replace regexp_split_to_array right_grapheme sha1 sha256 split split_part
    starts_with str_split str_split_regex string_split string_split_regex string_to_array strip_accents strlen strpos
    substring_grapheme suffix to_base to_base64 to_binary to_hex ucase unbin unicode url_decode url_encode
    acosh add asinh atanh bit_count cbrt cosh div divide even factorial fdiv fmod gamma gcd isfinite isinf isnan lcm
    least_common_multiple lgamma multiply nextafter signbit sinh subtract tanh trunc xor
    any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_min arg_min_null argmax
    argmin array_agg bit_and bit_or bit_xor bool_and bool_or corr count_if count_star countif covar_pop covar_samp entropy
    favg first fsum geometric_mean geomean group_concat histogram kahan_sum kurtosis kurtosis_pop last list listagg mad
    max_by mean median min_by mode product quantile quantile_cont quantile_disc regr_avgx regr_avgy regr_count
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile sem skewness stddev stddev_pop
    stddev_samp string_agg sumkahan var_pop var_samp variance percentile_cont percentile_disc
    array_append array_cat array_concat array_contains array_distance array_cosine_similarity array_inner_product
    array_distinct array_filter array_has array_has_all array_has_any array_indexof array_intersect array_length
    array_pop_back array_pop_front array_position array_prepend array_push_back array_push_front array_reverse
    array_reverse_sort array_sort array_to_string array_transform array_unique array_value array_zip cardinality
    element_at flatten generate_series generate_subscripts grade_up len list_any_value list_append list_avg list_cat
    list_concat list_contains list_count list_cosine_similarity list_distance list_distinct list_extract list_filter
    list_first list_has list_has_all list_has_any list_indexof list_inner_product list_intersect list_last list_max
    list_median list_min list_mode list_pack list_position list_prepend list_product list_resize list_reverse
    list_reverse_sort list_slice list_sort list_stddev_pop list_stddev_samp list_string_agg list_sum list_transform
    list_unique list_value list_var_pop list_var_samp list_where list_zip range unnest unpivot_list
    map map_concat map_contains map_entries map_extract map_from_entries map_keys map_values row struct_concat
    struct_extract struct_insert struct_keys struct_pack struct_values union_extract union_tag union_value
    array_to_json from_json from_json_strict json json_array json_array_length json_contains json_each json_exists
    json_extract json_extract_path json_extract_path_text json_extract_string json_group_array json_group_object
    json_group_structure json_keys json_merge_patch json_object json_pretty json_quote json_structure json_transform
    json_transform_strict json_tree json_type json_valid json_value row_to_json to_json
    gen_random_uuid uuid uuidv4 uuidv7 typeof current_database current_schema version error enum_code enum_first
    enum_last enum_range bitstring get_bit set_bit bit_position is_histogram_other_bin width_bucket fill
    st_distance st_dwithin st_within st_contains st_intersects st_point st_x st_y st_astext st_area st_length
""")
FUNCTIONS: dict[Dialect, frozenset[str]] = {
    "postgresql": _COMMON | _POSTGRES,
    "mysql": _COMMON | _MYSQL,
    "sqlite": _COMMON | _SQLITE,
    "duckdb": _COMMON | _DUCKDB,
}
# Of use, and safe, only where the statement writes anyway.
WRITE_FUNCTIONS: dict[Dialect, frozenset[str]] = {
    "postgresql": _words("nextval currval lastval"),
    "mysql": _words("nextval lastval last_insert_id"),
    "sqlite": _words("last_insert_rowid"),
    "duckdb": _words("nextval currval"),
}

# System tables that describe the database and hold no settings, files or passwords.
SYSTEM_TABLES = _words("""
    pg_attribute pg_class pg_constraint pg_description pg_enum pg_index pg_indexes pg_matviews pg_namespace pg_sequence
    pg_sequences pg_tables pg_type pg_views sqlite_master sqlite_schema sqlite_sequence sqlite_stat1
""")
SYSTEM_PREFIXES: dict[Dialect, tuple[str, ...]] = {
    "postgresql": ("pg_",),
    "mysql": (),
    "sqlite": ("sqlite_", "pragma_", "dbstat", "sqlite_dbpage", "fts5vocab"),
    "duckdb": ("duckdb_", "pragma_", "sqlite_", "pg_"),
}
SYSTEM_SCHEMAS: dict[Dialect, frozenset[str]] = {
    "postgresql": frozenset(),
    "mysql": frozenset({"mysql", "performance_schema", "sys"}),
    "sqlite": frozenset({"temp"}),
    "duckdb": frozenset({"temp", "system", "pg_catalog"}),
}

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
    Distance Pow SafeDivide ToMap Struct Lambda JSONValue IndexTableHint LimitOptions
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
FUNCTIONS: dict[Dialect, frozenset[str]] = {
    "postgresql": _COMMON | _POSTGRES,
    "mysql": _COMMON | _MYSQL,
    "sqlite": _COMMON | _SQLITE,
}
# Of use, and safe, only where the statement writes anyway.
WRITE_FUNCTIONS: dict[Dialect, frozenset[str]] = {
    "postgresql": _words("nextval currval lastval"),
    "mysql": _words("nextval lastval last_insert_id"),
    "sqlite": _words("last_insert_rowid"),
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
}
SYSTEM_SCHEMAS: dict[Dialect, frozenset[str]] = {
    "postgresql": frozenset(),
    "mysql": frozenset({"mysql", "performance_schema", "sys"}),
    "sqlite": frozenset({"temp"}),
}

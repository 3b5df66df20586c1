/** The filters of the expression language; a test compares them with the server's. */
export const FILTERS = [
  'abs', 'add_time', 'attr', 'avg', 'b64decode', 'b64encode', 'batch', 'bool', 'capitalize', 'ceil', 'center', 'chain', 'combine', 'compact', 'date', 
  'date_diff', 'default', 'dictsort', 'escape', 'filesizeformat', 'first', 'flatten', 'float', 'floor', 'format_date', 'fromjson', 'groupby', 'hash', 
  'indent', 'index_of', 'int', 'items', 'jmespath', 'join', 'keys', 'last', 'length', 'lines', 'list', 'lower', 'map', 'max', 'min', 'number', 
  'number_format', 'pluralize', 'regex_findall', 'regex_match', 'regex_replace', 'regex_search', 'reject', 'rejectattr', 'replace', 'reverse', 
  'round', 'safe', 'select', 'selectattr', 'slice', 'slugify', 'sort', 'split', 'string', 'striptags', 'sum', 'timestamp', 'title', 'to_datetime', 
  'to_tz', 'tojson', 'trim', 'truncate', 'unique', 'upper', 'urlencode', 'values', 'wordcount', 'wordwrap', 'zip',
]

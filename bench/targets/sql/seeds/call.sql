SELECT abs(-3), round(2.55, 1), substr('carol', 2, 3), hex('a'), coalesce(NULL, 4), printf('%05d|%s', 7, 'x');
SELECT date('2024-02-29', '+1 year'), json_extract('{"a":[1,2]}', '$.a[1]'), cast('12ab' AS INTEGER);
EXPLAIN SELECT 1; ANALYZE; VACUUM;

-- Makes a run unless its cluster has one. The same event makes one run however often it is sent.
-- KEYS run, log, start, active, runs, due, clusters, bell
-- ARGV run id, cluster, event id, run JSON, schema, phase, ttl of the event's memory (ms), log entry, its hash
if redis.call('EXISTS', KEYS[3]) == 1 then return {'AGAIN', redis.call('GET', KEYS[3])} end
if redis.call('EXISTS', KEYS[1]) == 1 then return {'TAKEN', ARGV[1]} end
local other = redis.call('HGET', KEYS[7], ARGV[2])
if other and redis.call('SISMEMBER', KEYS[4], other) == 1 then return {'EXISTS', other} end
local now = now_ms()
redis.call('XADD', KEYS[2], '0-1', 'entry', ARGV[8], 'hash', ARGV[9], 'at', text(now))
redis.call('HSET', KEYS[1], 'version', 0, 'fence', 0, 'run', ARGV[4], 'schema', ARGV[5], 'phase', ARGV[6],
  'cluster', ARGV[2], 'cluster_id', '', 'intent', '', 'ops', '', 'chain', ARGV[9], 'created', text(now))
redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[7])
redis.call('SADD', KEYS[4], ARGV[1])
redis.call('ZADD', KEYS[5], text(now), ARGV[1])
redis.call('ZADD', KEYS[6], 0, ARGV[1])
redis.call('HSET', KEYS[7], ARGV[2], ARGV[1])
redis.call('XADD', KEYS[8], 'MAXLEN', '~', 1000, '*', 'run', ARGV[1])
return {'OK', ARGV[1]}

-- Binds a resolved cluster id to a run.
-- KEYS run, clusters, active
-- ARGV run id, cluster id, fence
local fence = redis.call('HGET', KEYS[1], 'fence')
if not fence then return {'NONE', '0'} end
if fence ~= ARGV[3] then return {'FENCED', fence} end
local other = redis.call('HGET', KEYS[2], ARGV[2])
if other and other ~= ARGV[1] and redis.call('SISMEMBER', KEYS[3], other) == 1 then return {'EXISTS', other} end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[1])
redis.call('HSET', KEYS[1], 'cluster_id', ARGV[2])
return {'OK', ARGV[1]}

-- Notes a failed step once, and answers all that failed lately and since the brake was last lifted.
-- KEYS failures, brake
-- ARGV member, when it failed (ms), window (ms)
redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', text(now_ms() - tonumber(ARGV[3])))
local lifted = redis.call('HGET', KEYS[2], 'lifted') or '0'
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. lifted, '+inf')

-- Does once, on a key of its own, what the other scripts do, so that a missing right shows before anything is half done:
-- Redis takes nothing back that a script wrote before it failed.
-- KEYS rehearsal
now_ms()
local steps = {
  {'SET', '1', 'PX', '1000'}, {'GET'}, {'EXISTS'}, {'DEL'}, -- first what a full server refuses: later ones it would let pass
  {'HSET', 'f', '1'}, {'HGET', 'f'}, {'HMGET', 'f'}, {'HGETALL'}, {'HEXISTS', 'f'}, {'HDEL', 'f'},
  {'SADD', 'm'}, {'SISMEMBER', 'm'}, {'SMEMBERS'}, {'SREM', 'm'},
  {'ZADD', '1', 'm'}, {'ZSCORE', 'm'}, {'ZCOUNT', '-inf', '+inf'}, {'ZRANGEBYSCORE', '-inf', '+inf'},
  {'ZREVRANGE', '0', '0'}, {'ZREMRANGEBYRANK', '1', '1'}, {'ZREMRANGEBYSCORE', '2', '2'}, {'ZREM', 'm'},
  {'XADD', '1-1', 'f', '1'}, {'XLEN'}, {'XRANGE', '-', '+'}, {'XREVRANGE', '+', '-'}, {'XDEL', '1-1'}, {'DEL'},
}
for _, step in ipairs(steps) do redis.call(step[1], KEYS[1], unpack(step, 2)) end
return {'OK'}

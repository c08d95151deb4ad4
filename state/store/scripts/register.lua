-- Takes a replica name for a new process: an epoch above all that were ever given (Redis time in ms, so that it stays
-- above them even after the store was lost), and a first lease. Names that are long gone are forgotten.
-- KEYS replicas, epochs, epoch
-- ARGV name, lease (ms), how long a name is remembered after its lease (ms)
local now = now_ms()
local epoch = math.max(now, tonumber(redis.call('GET', KEYS[3]) or '0') + 1,
  tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or '0') + 1)
redis.call('SET', KEYS[3], text(epoch))
redis.call('HSET', KEYS[2], ARGV[1], text(epoch))
redis.call('ZADD', KEYS[1], text(now + tonumber(ARGV[2])), ARGV[1])
local gone = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now - tonumber(ARGV[3])))
for _, name in ipairs(gone) do
  redis.call('ZREM', KEYS[1], name)
  redis.call('HDEL', KEYS[2], name)
end
return {'OK', text(epoch)}

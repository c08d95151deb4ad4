-- Gives everything back at once. The epoch is raised, so that a late renewal changes nothing.
-- KEYS replicas, epochs, leader
-- ARGV name, epoch
if tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or '0') > tonumber(ARGV[2]) then return {'SUPERSEDED'} end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], text(tonumber(ARGV[2]) + 1))
if redis.call('GET', KEYS[3]) == ARGV[2] .. ' ' .. ARGV[1] then redis.call('DEL', KEYS[3]) end
return {'OK'}

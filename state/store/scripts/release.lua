-- KEYS owners
-- ARGV run id, name, epoch
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[3] .. ' ' .. ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
return {'OK'}

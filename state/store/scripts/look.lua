-- The last look before a call that cannot be taken back: lease renewed, owner and fence as they are now.
-- KEYS replicas, epochs, owners, run
-- ARGV name, epoch, lease (ms), run id
local found, ours = renew(KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3]), now_ms())
if not ours then return {'SUPERSEDED', text(found)} end
local h = redis.call('HMGET', KEYS[4], 'version', 'fence')
return {'OK', h[1] or '', h[2] or '', redis.call('HGET', KEYS[3], ARGV[4]) or ''}

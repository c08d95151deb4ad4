-- KEYS replicas, epochs
-- ARGV name, epoch, lease (ms)
local found, ours = renew(KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3]), now_ms())
return {ours and 'OK' or 'SUPERSEDED', text(found)}

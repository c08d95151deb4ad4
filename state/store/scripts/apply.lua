-- Stores one transition, all of it or nothing.
-- KEYS run, log, inbox, due, active, clusters, ended
-- ARGV 1 run id, 2 expected version, 3 fence, 4 op and digest of what it stores, 5 run JSON, 6 schema, 7 phase, 8 ended ('1' or ''),
--      9 op of the open intent ('' = none), 10 op of the intent that the caller decided on, 11 delay until due in ms ('' = no alarm),
--      12 hash of the log's last entry as the caller knows it, 13 log entry, 14 its hash, 15 barrier ('1' or ''),
--      16… inbox entries that were taken
local h = redis.call('HMGET', KEYS[1], 'version', 'fence', 'ops', 'intent', 'chain', 'cluster', 'cluster_id')
if not h[1] then return {'NONE', '0'} end
for version, op in string.gmatch(h[3], '(%d+) ([^\n]*)\n') do
  if op == ARGV[4] then
    -- WAIT counts from the last write of its own connection, so that a repeat needs one
    if ARGV[15] == '1' then redis.call('HSET', KEYS[1], 'barrier', op) end
    return {'DUP', version, h[5]}
  end
end
if h[2] ~= ARGV[3] then return {'FENCED', h[2]} end
if h[1] ~= ARGV[2] then return {'CONFLICT', h[1]} end
-- at most one open intent: only who knew the open one may close it or put another in its place
if h[4] ~= ARGV[10] then return {'BUSY', h[4]} end
if h[5] ~= ARGV[12] then return {'CHAIN', h[5]} end

local version = text(tonumber(h[1]) + 1)
local now = now_ms()
redis.call('XADD', KEYS[2], version .. '-1', 'entry', ARGV[13], 'hash', ARGV[14], 'at', text(now))

local ops, kept = version .. ' ' .. ARGV[4] .. '\n', 1
for line in string.gmatch(h[3], '[^\n]*\n') do
  kept = kept + 1
  if kept <= 8 then ops = ops .. line end
end
redis.call('HSET', KEYS[1], 'version', version, 'run', ARGV[5], 'schema', ARGV[6], 'phase', ARGV[7],
  'intent', ARGV[9], 'ops', ops, 'chain', ARGV[14])

for i = 16, #ARGV do redis.call('XDEL', KEYS[3], ARGV[i]) end
if ARGV[8] == '1' then -- nothing is due of an ended run, and nobody takes from its inbox
  redis.call('ZREM', KEYS[4], ARGV[1])
elseif redis.call('XLEN', KEYS[3]) > 0 then
  redis.call('ZADD', KEYS[4], 0, ARGV[1])
elseif ARGV[11] ~= '' then
  redis.call('ZADD', KEYS[4], text(now + tonumber(ARGV[11])), ARGV[1])
else
  redis.call('ZREM', KEYS[4], ARGV[1])
end

if ARGV[8] == '1' then
  redis.call('SREM', KEYS[5], ARGV[1])
  redis.call('ZADD', KEYS[7], 'NX', text(now), ARGV[1])
  for _, name in ipairs({h[6], h[7]}) do
    if name ~= '' and redis.call('HGET', KEYS[6], name) == ARGV[1] then redis.call('HDEL', KEYS[6], name) end
  end
end
return {'OK', version, ARGV[14]}

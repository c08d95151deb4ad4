-- Begins every script. Redis 6.2 features only.
local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

local function text(n)
  return string.format('%.0f', n)
end

-- owner = "<epoch> <replica name>"; alive while that very process holds the name and its lease has not run out
local function alive(replicas, epochs, owner, now)
  local epoch, name = string.match(owner, '^(%d+) (.*)$')
  if not epoch or redis.call('HGET', epochs, name) ~= epoch then return false end
  local lease = redis.call('ZSCORE', replicas, name)
  return lease ~= false and tonumber(lease) > now
end

-- Extends our lease unless a newer process took our name. An older or missing epoch means that the store lost history:
-- ours is put back. Answers the epoch that was found.
local function renew(replicas, epochs, name, epoch, ttl, now)
  local found = tonumber(redis.call('HGET', epochs, name) or '0')
  if found > tonumber(epoch) then return found, false end
  if found < tonumber(epoch) then redis.call('HSET', epochs, name, epoch) end
  redis.call('ZADD', replicas, text(now + ttl), name)
  return found, true
end

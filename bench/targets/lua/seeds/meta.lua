local m = setmetatable({}, {__index = function(t, k) return k .. "!" end})
local co = coroutine.wrap(function(a) local b = coroutine.yield(a) return b end)
co(m.x)
return co(1)

local function f(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end
return f(6) // 2

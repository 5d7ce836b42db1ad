local t = {3, 1, 2, x = "y"}
table.sort(t)
for i, v in ipairs(t) do t[i] = v * 2 end
return #t

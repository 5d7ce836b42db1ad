local s = ("%d-%s"):format(7, "a")
return s:gsub("%d", "x"), s:find("-", 1, true), #s .. s:rep(2)
